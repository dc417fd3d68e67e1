package dev.onefold.core;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/// What is kept of the loser of a conflict.
public final class Losers {
    private Losers() {}

    /// The same for the same key, version and contribution, and for nothing else.
    public static String identity(StoredRow row) {
        MessageDigest digest = sha256();
        digest.update(Tuple.of(row.key()).bytes());
        update(digest, row.version());
        update(digest, row.contribution().kind().name());
        for (Tuple group : row.contribution().groups()) {
            digest.update(group.bytes());
        }
        for (Amount amount : row.contribution().amounts()) {
            switch (amount) {
                case Amount.None _ -> digest.update((byte) 0);
                case Amount.Number(var value) -> update(digest, "1" + value);
                case Amount.Text(var value) -> update(digest, "2" + value);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    private static void update(MessageDigest digest, String text) {
        digest.update(Tuple.of(List.of(text)).bytes());
    }

    /// A stored row as JSON: its own bytes are gone, this is what the pipeline read of them.
    public static byte[] text(StoredRow row, Pipeline pipeline) {
        StringBuilder json = new StringBuilder("{\"key\":");
        texts(json, row.key());
        json.append(",\"version\":");
        quote(json, row.version());
        json.append(",\"kind\":");
        quote(json, row.contribution().kind().name().toLowerCase(java.util.Locale.ROOT));
        json.append(",\"groups\":{");
        for (int i = 0; i < row.contribution().groups().size(); i++) {
            json.append(i == 0 ? "" : ",");
            quote(json, pipeline.rollups().get(i).name());
            json.append(':');
            texts(json, row.contribution().groups().get(i).parts());
        }
        json.append("},\"amounts\":{");
        List<Measure.Input> inputs = pipeline.inputs();
        for (int i = 0; i < row.contribution().amounts().size(); i++) {
            json.append(i == 0 ? "" : ",");
            quote(json, inputs.get(i).field().toString());
            json.append(':');
            switch (row.contribution().amounts().get(i)) {
                case Amount.None _ -> json.append("null");
                case Amount.Number(var value) -> json.append(value.toPlainString());
                case Amount.Text(var value) -> quote(json, value);
            }
        }
        return json.append("}}").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void texts(StringBuilder json, List<String> texts) {
        json.append('[');
        for (int i = 0; i < texts.size(); i++) {
            json.append(i == 0 ? "" : ",");
            quote(json, texts.get(i));
        }
        json.append(']');
    }

    private static void quote(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < 0x20) {
                json.append("\\u00").append(HexFormat.of().toHexDigits((byte) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
