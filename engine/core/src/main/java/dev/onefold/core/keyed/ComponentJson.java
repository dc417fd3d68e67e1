package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.json.Json;
import dev.onefold.core.shape.Value;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/// Some components of a stored record as JSON, made of its bytes: the same text as that of [Value#toJson],
/// without an object for each. Immutable.
final class ComponentJson {
    private final byte[][] stored; // Names with their lengths before them ...
    private final byte[][] written; // ... and with quotes and a colon.

    /// @param names of the components that are wanted
    public ComponentJson(Collection<String> names) {
        stored = names.stream().map(name -> new BytesOut().text(name).toBytes()).toArray(byte[][]::new);
        written = names.stream()
                .map(name -> (Json.of(name) + ":").getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /// Writes them in the order in which they are stored.
    ///
    /// @param record as a [dev.onefold.core.codec.Codec] has written it
    public void write(byte[] record, BytesOut out) {
        BytesIn in = new BytesIn(record);
        int separator = '{';
        for (int left = in.count(); left > 0; left--) {
            int name = name(in);
            if (name < 0) {
                in.skip();
                ValueBytes.skip(in);
            } else {
                out.octet(separator).raw(written[name], 0, written[name].length);
                separator = ',';
                value(in, out);
            }
        }
        in.requireEnd();
        if (separator == '{') {
            out.octet('{');
        }
        out.octet('}');
    }

    private int name(BytesIn in) {
        for (int i = 0; i < stored.length; i++) {
            if (in.take(stored[i])) {
                return i;
            }
        }
        return -1;
    }

    private static void value(BytesIn in, BytesOut out) {
        int tag = in.octet();
        switch (tag) {
            case ValueBytes.INT, ValueBytes.LONG -> raw(Long.toString(in.signed()), out);
            case ValueBytes.TEXT, ValueBytes.NAME -> text(in.bytes(), out);
            default -> raw(Value.read(tag, in).toJson(), out);
        }
    }

    private static void text(byte[] utf8, BytesOut out) {
        for (byte b : utf8) {
            if (b >= 0 && b < ' ' || b == '"' || b == '\\') {
                raw(Json.of(new String(utf8, StandardCharsets.UTF_8)), out);
                return;
            }
        }
        out.octet('"').raw(utf8, 0, utf8.length).octet('"');
    }

    private static void raw(String json, BytesOut out) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        out.raw(bytes, 0, bytes.length);
    }
}
