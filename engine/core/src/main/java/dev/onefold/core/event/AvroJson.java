package dev.onefold.core.event;

import dev.onefold.core.pipeline.Limits;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/// The JSON form of Avro, in which the value of a union is an object: its only member is named by the type, such as
/// `{"long": 100}` or `{"shop.public.orders.Value": {…}}`. Here the types are replaced by line breaks, which JSON
/// passes over, so that each value is where it was.
final class AvroJson {
    /// Stands for what is taken out.
    static final byte BLANK = '\n';

    /// Bytes are left as they are: their text is not a number, although it may look like one.
    private static final Set<String> TYPES =
            Set.of("boolean", "int", "long", "float", "double", "string", "array", "map");

    private static final int TYPE_MAX = 1_000;
    private static final int DEPTH_MAX = Limits.NESTING_MAX + 1;

    private final byte[] bytes;
    private final int[] open = new int[DEPTH_MAX];
    private final int[] members = new int[DEPTH_MAX];
    private final int[] value = new int[DEPTH_MAX];

    private AvroJson(byte[] bytes) {
        this.bytes = bytes;
    }

    /// A record without the types of its unions. The record is known to be JSON.
    static byte[] plain(byte[] record, int from, int to) {
        byte[] copy = Arrays.copyOf(Arrays.copyOfRange(record, from, to), to - from + Decoder.PADDING);
        new AvroJson(copy).strip(to - from);
        return copy;
    }

    private void strip(int length) {
        int depth = -1;
        for (int at = 0; at < length; at++) {
            switch (bytes[at]) {
                case '"' -> at = behindText(at) - 1;
                case '{', '[' -> {
                    open[++depth] = at;
                    members[depth] = 0;
                }
                case ':' -> {
                    members[depth]++;
                    value[depth] = at + 1;
                }
                case '}', ']' -> {
                    if (bytes[at] == '}' && members[depth] == 1 && isType(open[depth])) {
                        Arrays.fill(bytes, open[depth], value[depth], BLANK);
                        bytes[at] = BLANK;
                    }
                    depth--;
                }
                default -> {}
            }
        }
    }

    private int behindText(int at) {
        int end = at + 1;
        while (bytes[end] != '"') {
            end += bytes[end] == '\\' ? 2 : 1;
        }
        return end + 1;
    }

    /// Whether the first name in an object is that of a type: a named one has its namespace in front.
    private boolean isType(int brace) {
        int from = brace + 1;
        while (bytes[from] != '"') {
            from++;
        }
        int to = behindText(from) - 1;
        String name = new String(bytes, from + 1, Math.min(to - from - 1, TYPE_MAX), StandardCharsets.UTF_8);
        return TYPES.contains(name) || name.indexOf('.') > 0;
    }
}
