package dev.onefold.embedded.source;

import dev.onefold.core.bytes.Utf8;
import java.util.List;
import java.util.Objects;

/// The records of a log in a range of offsets of one partition: all from `from` on, up to but without `next`.
/// Offsets without a record (control records, records that were compacted away) are in the range and not in the
/// list.
///
/// @param log name of the log
/// @param partition number of the partition, from 0
/// @param records ascending by offset
/// @param mark a text of the reader's own that is kept with the position, in the same atomic step: by it the reader
///     recognizes the log after a start; empty to keep the one before
public record LogBatch(String log, int partition, long from, long next, List<Entry> records, String mark) {
    /// A batch whose reader keeps no mark.
    public LogBatch(String log, int partition, long from, long next, List<Entry> records) {
        this(log, partition, from, next, records, "");
    }

    public LogBatch {
        Objects.requireNonNull(log, "The name of the log is null");
        Utf8.encode("The name of the log", log);
        records = List.copyOf(records);
        if (log.isEmpty() || partition < 0 || from < 0 || next < from) {
            throw new IllegalArgumentException(
                    "Not a range of a partition: offsets " + from + " to " + next + " of " + source(log, partition));
        }
        long at = from;
        for (Entry record : records) {
            if (record.offset < at || record.offset >= next) {
                throw new IllegalArgumentException("Offset " + record.offset + " of " + source(log, partition)
                        + " is out of order, or not in its range " + from + " to " + next);
            }
            at = record.offset + 1;
        }
    }

    /// A record at its offset; its bytes may hold line ends. A record without a value, as some logs have it
    /// for a delete, cannot be read by a pipeline: its caller leaves it out, or makes an event of it.
    ///
    /// @param timeMs when the log took it, in milliseconds since 1970, for its delay; negative if that is not
    ///     known
    public record Entry(long offset, byte[] bytes, long timeMs) {
        /// A record whose time is not known.
        public Entry(long offset, byte[] bytes) {
            this(offset, bytes, -1);
        }

        public Entry {
            Objects.requireNonNull(bytes, () -> "The record at offset " + offset + " has no value");
        }
    }

    /// Name of the source that a partition is: `trades/3`.
    public static String source(String log, int partition) {
        return log + "/" + partition;
    }

    /// The log of the source that a partition is.
    public static String logOf(String source) {
        return source.substring(0, source.lastIndexOf('/'));
    }

    /// The number of the partition that is a source.
    public static int partitionOf(String source) {
        return Integer.parseInt(source.substring(source.lastIndexOf('/') + 1));
    }

    /// Name of the source that this is a part of.
    public String source() {
        return source(log, partition);
    }
}
