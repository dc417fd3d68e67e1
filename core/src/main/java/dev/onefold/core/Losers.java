package dev.onefold.core;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Sha256;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.document.Json;
import dev.onefold.core.pipeline.document.JsonText;
import dev.onefold.core.pipeline.document.Node;
import dev.onefold.core.pipeline.document.Problems;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// What is kept of the loser of a conflict, and what is said about it.
public final class Losers {
    /// Of the object that stands for a row: key, version, kind, groups, amounts.
    private static final int MEMBERS = 5;

    private Losers() {}

    /// The same for the same key, version and contribution, and for nothing else.
    public static String identity(StoredRow row) {
        MessageDigest digest = Sha256.digest();
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

    private static void update(MessageDigest digest, String text) {
        digest.update(Tuple.of(List.of(text)).bytes());
    }

    /// Why the loser is a dead letter.
    ///
    /// @param winner source of the record that stays
    public static String message(StoredRow loser, String winner) {
        String what = loser.version().isEmpty() ? "This id" : "Version " + loser.version() + " of this key";
        return what + " came with two contents; the other one, from " + winner + ", is greater and stays";
    }

    /// A stored row as JSON: its own bytes are gone, this is what the pipeline read of them.
    public static byte[] text(StoredRow row, Pipeline pipeline) {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        for (int i = 0; i < row.contribution().groups().size(); i++) {
            groups.put(
                    pipeline.rollups().get(i).name(),
                    row.contribution().groups().get(i).parts());
        }
        StringBuilder json = new StringBuilder(keyText(row.key())).append(",\"version\":");
        Json.append(json, row.version());
        Json.append(json.append(",\"kind\":"), row.contribution().kind().name().toLowerCase(Locale.ROOT));
        Json.append(json.append(",\"groups\":"), groups);
        json.append(",\"amounts\":{");
        String separator = "";
        List<Measure.Input> inputs = pipeline.inputs(); // A field may be read as a number and as a text: not a map.
        for (int i = 0; i < row.contribution().amounts().size(); i++) {
            Json.append(json.append(separator), inputs.get(i).field().toString());
            json.append(':');
            switch (row.contribution().amounts().get(i)) {
                case Amount.None _ -> Json.append(json, null);
                case Amount.Number(var value) -> Json.append(json, value);
                case Amount.Text(var value) -> Json.append(json, value);
            }
            separator = ",";
        }
        return json.append("}}").toString().getBytes(StandardCharsets.UTF_8);
    }

    /// The row that [#text] made such a text of.
    ///
    /// @param pipeline under which it was made
    /// @param place of the record
    /// @return empty if this is no such text
    public static Optional<StoredRow> row(byte[] text, Pipeline pipeline, Place place) {
        Node node = JsonText.read(new String(text, StandardCharsets.UTF_8), new Problems());
        if (!(node instanceof Node.Mapping row) || row.entries().size() != MEMBERS) {
            return Optional.empty();
        }
        List<Node.Entry> entries = row.entries();
        List<List<String>> groups = new ArrayList<>();
        members(entries.get(3).value()).forEach(group -> groups.add(scalars(group)));
        List<String> amounts =
                members(entries.get(4).value()).stream().map(Losers::scalar).toList();
        Event.Kind kind = Event.Kind.valueOf(scalar(entries.get(2).value()).toUpperCase(Locale.ROOT));
        List<Measure.Input> inputs = pipeline.inputs();
        if (kind == Event.Kind.COUNTED && amounts.size() != inputs.size()) {
            return Optional.empty();
        }
        List<Amount> values = new ArrayList<>();
        for (int i = 0; i < amounts.size(); i++) {
            Node value = members(entries.get(4).value()).get(i);
            values.add(
                    value instanceof Node.Scalar one && one.isNull()
                            ? new Amount.None()
                            : switch (inputs.get(i)) {
                                case Measure.Input.Decimal _ -> new Amount.Number(new BigDecimal(amounts.get(i)));
                                case Measure.Input.Text _ -> new Amount.Text(amounts.get(i));
                            });
        }
        return Optional.of(new StoredRow(
                scalars(entries.get(0).value()),
                scalar(entries.get(1).value()),
                new Contribution(kind, groups.stream().map(Tuple::of).toList(), values),
                place.source(),
                place.offset()));
    }

    private static List<Node> members(Node node) {
        return node instanceof Node.Mapping mapping
                ? mapping.entries().stream().map(Node.Entry::value).toList()
                : List.of();
    }

    private static List<String> scalars(Node node) {
        return node instanceof Node.Sequence sequence
                ? sequence.items().stream().map(Losers::scalar).toList()
                : List.of();
    }

    private static String scalar(Node node) {
        return node instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /// Whether a text may be of this key: [#text] made it of a row of the key, or did not make it.
    static boolean hasKey(byte[] text, List<String> key) {
        String json = new String(text, StandardCharsets.UTF_8);
        return !json.startsWith("{\"key\":") || json.startsWith(keyText(key) + ",");
    }

    private static String keyText(List<String> key) {
        StringBuilder json = new StringBuilder("{\"key\":");
        Json.append(json, key);
        return json.toString();
    }
}
