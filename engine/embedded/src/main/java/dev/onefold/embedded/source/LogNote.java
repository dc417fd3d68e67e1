package dev.onefold.embedded.source;

/// What the reader of a log knows of a partition beside its records.
///
/// @param end the offset behind the last record; -1 if it is not known
/// @param sinceMs the arrival of the oldest record that is not read, or a time before it, in milliseconds since
///     1970; -1 if it is not known
/// @param retentionMs how long the log keeps a record, in milliseconds; -1 if it is not known or has no limit
/// @param waits what the reader waits for, such as an open transaction; empty if it waits for nothing
/// @param stopped why the partition is not read any more; empty if it is
public record LogNote(long end, long sinceMs, long retentionMs, String waits, String stopped) {
    /// Nothing is known.
    public static final LogNote NONE = new LogNote(-1, -1, -1, "", "");

    /// The note of a partition that is not read any more.
    public static LogNote stopped(long end, String why) {
        return new LogNote(end, -1, -1, "", why);
    }
}
