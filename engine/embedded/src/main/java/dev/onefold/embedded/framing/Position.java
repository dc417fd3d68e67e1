package dev.onefold.embedded.framing;

import java.time.Instant;
import java.util.List;

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
    /// @param mark the reader's own text, by which it recognizes the log; empty if it gave none
    /// @param gaps ranges of offsets that the log had lost and a person has accepted, ascending
    record Partition(long first, long next, String mark, List<Gap> gaps) implements Position {
        public Partition {
            gaps = List.copyOf(gaps);
        }
    }

    /// Offsets of a partition that will never be in the results.
    ///
    /// @param to behind the last one
    /// @param at time of the acceptance
    record Gap(long from, long to, Instant at) {}
}
