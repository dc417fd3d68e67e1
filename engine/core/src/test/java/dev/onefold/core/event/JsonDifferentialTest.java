package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The scanner against [JsonCheck], on random records and damaged ones.
class JsonDifferentialTest {
    private static final List<List<String>> PATHS = List.of(
            List.of("a"), List.of("b", "c"), List.of("b", "d", "a"), List.of("a.b"), List.of("é"), List.of("b", ""));
    private static final List<String> NAMES = List.of("a", "b", "c", "d", "a.b", "é", "", "x", "\\u0061", "aa", "a\\n");
    private static final List<String> PIECES = List.of(
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud834", "\\udd1e", "1", "-", ".", "e", "0", "true",
            "null", "\"a\":", "\"b\":{", " ", "\n", "\u0000", "😀", "é", "\u001f");

    private final Fields fields =
            new Fields(PATHS.stream().map(names -> new FieldPath(names)).toList());
    private final JsonScanner scanner = new JsonScanner(fields);
    private final Scalars scalars = new Scalars();

    /// The values that the scanner finds at each path, in the words of [JsonCheck]; `null` if the record is
    /// malformed.
    private @Nullable Map<List<String>, Object> scan(byte[] record) {
        byte[] padded = new byte[record.length + 2 + JsonScanner.PADDING];
        Arrays.fill(padded, (byte) '"');
        System.arraycopy(record, 0, padded, 2, record.length);
        if (scanner.scan(padded, 2, 2 + record.length) != null) {
            return null;
        }
        Map<List<String>, Object> values = new LinkedHashMap<>();
        for (int slot = 0; slot < PATHS.size(); slot++) {
            values.put(
                    PATHS.get(slot),
                    switch (fields.kind[slot]) {
                        case Fields.MISSING -> new JsonCheck.Literal("null");
                        case Fields.TEXT, Fields.ESCAPED_TEXT ->
                            new String(scalars.bytes, 0, scalars.text(fields, slot, 0), StandardCharsets.UTF_8);
                        case Fields.COMPOSITE -> "composite";
                        default -> new JsonCheck.Literal(raw(slot));
                    });
        }
        return values;
    }

    private String raw(int slot) {
        return new String(fields.bytes, fields.from[slot], fields.to[slot] - fields.from[slot], StandardCharsets.UTF_8);
    }

    private static @Nullable Map<List<String>, Object> expected(byte[] record) {
        List<JsonCheck.Field> object = JsonCheck.read(record);
        Map<List<String>, Object> values = object == null ? null : JsonCheck.values(object, PATHS);
        if (values != null) {
            values.replaceAll(
                    (_, value) -> value instanceof List<?> || value instanceof JsonCheck.Items ? "composite" : value);
        }
        return values;
    }

    private void compare(byte[] record) {
        assertThat(scan(record)).as(new String(record, StandardCharsets.UTF_8)).isEqualTo(expected(record));
    }

    @Test
    void a_random_object_is_seen_as_another_reader_sees_it() {
        int[] seen = new int[2];
        Seeds.forAllSeeds(10_000, random -> {
            StringBuilder json = new StringBuilder();
            object(json, random, 0);
            byte[] record = json.toString().getBytes(StandardCharsets.UTF_8);
            compare(record);
            seen[expected(record) == null ? 0 : 1]++;
        });
        if (seen[0] + seen[1] >= 1_000) {
            assertThat(seen[0]).as("with a field twice").isBetween(seen[1] / 10, seen[1] * 2);
        }
    }

    @Test
    void a_damaged_object_is_seen_as_another_reader_sees_it() {
        int[] seen = new int[2];
        Seeds.forAllSeeds(25_000, random -> {
            StringBuilder json = new StringBuilder();
            object(json, random, 1);
            byte[] record = json.toString().getBytes(StandardCharsets.UTF_8);
            for (int i = random.nextInt(1, 4); i > 0 && record.length > 0; i--) {
                record = damaged(record, random);
            }
            compare(record);
            seen[expected(record) == null ? 0 : 1]++;
        });
        if (seen[0] + seen[1] >= 1_000) {
            assertThat(seen[1]).as("sound all the same").isBetween(seen[0] / 20, seen[0]);
        }
    }

    @Test
    void pieces_of_json_in_any_order_are_seen_as_another_reader_sees_them() {
        Seeds.forAllSeeds(20_000, random -> {
            StringBuilder json = new StringBuilder("{");
            for (int i = random.nextInt(20); i > 0; i--) {
                json.append(PIECES.get(random.nextInt(PIECES.size())));
            }
            compare(json.append(random.nextBoolean() ? "}" : "").toString().getBytes(StandardCharsets.UTF_8));
        });
    }

    private static byte[] damaged(byte[] record, RandomGenerator random) {
        int at = random.nextInt(record.length);
        byte[] piece = PIECES.get(random.nextInt(PIECES.size())).getBytes(StandardCharsets.UTF_8);
        byte[] changed = record.clone();
        switch (random.nextInt(5)) {
            case 0 -> changed[at] = (byte) random.nextInt(256);
            case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
            case 2 -> changed = Arrays.copyOf(record, at);
            case 3 -> {
                changed = Arrays.copyOf(record, record.length + piece.length);
                System.arraycopy(record, at, changed, at + piece.length, record.length - at);
                System.arraycopy(piece, 0, changed, at, piece.length);
            }
            default -> {
                changed = Arrays.copyOf(record, record.length - 1);
                System.arraycopy(record, at + 1, changed, at, record.length - at - 1);
            }
        }
        return changed;
    }

    private static void object(StringBuilder json, RandomGenerator random, int depth) {
        json.append('{');
        space(json, random);
        for (int i = random.nextInt(5); i > 0; i--) {
            json.append('"').append(NAMES.get(random.nextInt(NAMES.size()))).append('"');
            space(json, random);
            json.append(':');
            space(json, random);
            value(json, random, depth + 1);
            space(json, random);
            if (i > 1) {
                json.append(',');
                space(json, random);
            }
        }
        json.append('}');
    }

    private static void value(StringBuilder json, RandomGenerator random, int depth) {
        switch (random.nextInt(depth > 4 ? 7 : 10)) {
            case 0 -> json.append(random.nextInt(-1000, 1000));
            case 1 -> json.append("-12.50e-3");
            case 2 -> json.append(random.nextBoolean());
            case 3 -> json.append("null");
            case 4 -> json.append("\"plain text of more than eight bytes\"");
            case 5, 6 -> {
                json.append('"');
                for (int i = random.nextInt(12); i > 0; i--) {
                    json.append(List.of("x", "é", "😀", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud834\\udd1e", "12345678")
                            .get(random.nextInt(9)));
                }
                json.append('"');
            }
            case 7 -> {
                json.append('[');
                for (int i = random.nextInt(3); i > 0; i--) {
                    value(json, random, depth + 1);
                    space(json, random);
                    json.append(i > 1 ? "," : "");
                    space(json, random);
                }
                json.append(']');
            }
            default -> object(json, random, depth);
        }
    }

    private static void space(StringBuilder json, RandomGenerator random) {
        if (random.nextInt(6) == 0) {
            json.append(" \t\r\n", 0, random.nextInt(5));
        }
    }
}
