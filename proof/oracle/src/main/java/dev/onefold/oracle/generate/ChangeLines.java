package dev.onefold.oracle.generate;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/// The records of a case as changes of a table, in the pipeline's own versions.
final class ChangeLines {
    private static final int EACH = 6;
    private static final int REMOVED_EACH = 12;
    private static final int TOMBSTONE_EACH = 9;
    private static final String JSON = "  format: json\n";

    /// Whether a case becomes one of changes. The pipeline decides, and no random number: the cases of before stay.
    static boolean isFor(String pipeline) {
        return pipeline.contains(JSON)
                && !pipeline.contains("\n  unwrap: ")
                && pipeline.contains("\n  key: ")
                && pipeline.contains("\n  version: ")
                && !pipeline.contains("\n  let:")
                && Math.floorMod(pipeline.hashCode(), EACH) == 0;
    }

    private ChangeLines() {}

    /// Half of the pipelines leave open how decimals are written.
    static String pipeline(String pipeline) {
        String decimals = Math.floorMod(pipeline.hashCode() / EACH, 2) == 0 ? "" : "  decimals: text\n";
        return pipeline.replace(JSON, "  format: debezium\n  table: t\n" + decimals);
    }

    static List<byte[]> lines(List<byte[]> rows) {
        return rows.stream().flatMap(ChangeLines::around).toList();
    }

    /// A change, and perhaps a tombstone behind it.
    private static Stream<byte[]> around(byte[] row) {
        byte[] tombstone = "{\"key\":{\"id\":1},\"value\":null}".getBytes(StandardCharsets.US_ASCII);
        byte[] change = line(row);
        return change.length % TOMBSTONE_EACH == 0 ? Stream.of(change, tombstone) : Stream.of(change);
    }

    /// Equal rows become equal changes.
    private static byte[] line(byte[] row) {
        String text = new String(row, StandardCharsets.ISO_8859_1);
        int draw = Math.floorMod(text.hashCode(), REMOVED_EACH * EACH);
        String change = draw % REMOVED_EACH == 0
                ? "{\"op\":\"d\",\"before\":" + text + ",\"after\":null,\"source\":{\"table\":\"t\"}}"
                : "{\"before\":null,\"after\":" + text + ",\"source\":{\"table\":\"t\"},\"op\":\"u\",\"ts_ms\":7}";
        String wrapped = switch (draw % EACH) {
            case 0 -> "{\"schema\":{},\"payload\":" + change + "}";
            case 1 -> "{\"topic\":\"t\",\"value\":" + change + "}";
            case 2 -> "{\"value\":{\"payload\":" + change + "}}";
            default -> change;
        };
        return wrapped.getBytes(StandardCharsets.ISO_8859_1);
    }
}
