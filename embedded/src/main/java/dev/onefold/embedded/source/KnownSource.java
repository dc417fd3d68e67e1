package dev.onefold.embedded.source;

/// How far a source is in the results, as a checkpoint keeps it.
///
/// @param records whole records, rejected ones and a header included
/// @param header line of CSV columns, if the source has one; else empty
public record KnownSource(String name, long records, byte[] header, Position position) {
    /// Records without the header.
    public long dataRecords() {
        return records - (header.length > 0 ? 1 : 0);
    }

    /// Bytes of the source that are in the results; of a partition, whose bytes nobody counts, 0.
    public long bytes() {
        return switch (position) {
            case Position.File file -> file.bytes();
            case Position.Lines lines -> lines.bytes();
            case Position.Partition _ -> 0;
        };
    }
}
