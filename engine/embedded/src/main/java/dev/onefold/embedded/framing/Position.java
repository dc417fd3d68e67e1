package dev.onefold.embedded.framing;

/// The progress of a source in the results, by the kind of the source.
public sealed interface Position {
    /// Bytes of a source that can be read again from its first byte.
    ///
    /// @param sha256 hash of these bytes
    /// @param unfinished whether the last of these lines had no end
    record File(long bytes, byte[] sha256, boolean unfinished) implements Position {}

    /// Bytes of lines that came through the journal.
    record Lines(long bytes) implements Position {}

    /// A partition of a log, which can be read again from any offset that the log still has.
    ///
    /// @param first the offset that the first batch began at
    /// @param next the offset behind those that are in the results
    record Partition(long first, long next) implements Position {}
}
