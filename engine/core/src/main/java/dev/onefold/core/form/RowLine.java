package dev.onefold.core.form;

import dev.onefold.core.event.Version;
import java.nio.charset.StandardCharsets;

/// Lines of a seeding or a repair: a row of a table, or its removal, at a version that is not in the row.
/// Every pipeline whose rows have versions and whose records are JSON takes them beside its own records, if
/// they come as [dev.onefold.core.bytes.RecordKind#ROW]. Among the records of its input they have no special
/// meaning.
public final class RowLine {
    private RowLine() {}

    /// A row at a place in the log of its table, in a pipeline whose versions are such places.
    ///
    /// @param row the fields of the row as one JSON object, key included, without line breaks
    public static byte[] of(Version place, byte[] row) {
        return line(place(place) + "},\"row\":", row);
    }

    /// A row in a pipeline that reads changes of a table, and whose versions are a field of the row.
    public static byte[] of(byte[] row) {
        return line("},\"row\":", row);
    }

    /// A row that is gone, at a place in the log.
    ///
    /// @param key the fields of the row's key as one JSON object
    public static byte[] removed(Version place, byte[] key) {
        return line(place(place) + ",\"removed\":true},\"row\":", key);
    }

    /// A row that is gone, in a pipeline whose versions are the user's own.
    public static byte[] removedAt(Version version, byte[] key) {
        return line("\"version\":\"" + version + "\",\"removed\":true},\"row\":", key);
    }

    private static String place(Version place) {
        return "\"generation\":" + place.generation() + ",\"position\":\"" + place.position() + "\",\"number\":"
                + place.repair();
    }

    private static byte[] line(String middle, byte[] row) {
        byte[] beginning = ("{\"$onefold\":{" + middle).getBytes(StandardCharsets.US_ASCII);
        byte[] line = new byte[beginning.length + row.length + 1];
        System.arraycopy(beginning, 0, line, 0, beginning.length);
        System.arraycopy(row, 0, line, beginning.length, row.length);
        line[line.length - 1] = '}';
        return line;
    }
}
