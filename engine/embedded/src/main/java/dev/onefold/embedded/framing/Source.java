package dev.onefold.embedded.framing;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.query.Answer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One source, and its progress in the results. Guarded by the engine's lock.
public final class Source {
    /// The source of records that are not there yet.
    public static final Source NOWHERE = new Source("", -1, Kind.LINES);

    private final String name;
    private final int number;
    private final Kind kind;
    private long records;
    private long at; // Bytes, or the next offset of a partition.
    private long first = -1; // The first offset of a partition; below 0 before its first batch.
    private String mark = ""; // Of a partition: its reader's.
    private final List<Position.Gap> gaps = new ArrayList<>();
    private byte[] header = new byte[0];
    private byte[] hash = Sha256.digest().digest();
    private @Nullable MessageDigest digest; // Of a file that this process has read: continued from there.
    private boolean unfinished;
    private long recordsAppended;
    private long bytesAppended;
    private boolean headerAppended;

    /// The kind of a source, which determines the meaning of its position.
    public enum Kind {
        FILE("a file"),
        /// Lines that came through the journal.
        LINES("a stream of lines"),
        PARTITION("a partition of a log");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /// For a message.
        public String text() {
            return text;
        }
    }

    Source(String name, int number, Kind kind) {
        this.name = name;
        this.number = number;
        this.kind = kind;
    }

    Source(Known known, int number) {
        this(known.name(), number, kind(known.position()));
        records = known.records();
        header = known.header();
        switch (known.position()) {
            case Position.File(long bytes, byte[] sha256, boolean isUnfinished) -> {
                at = bytes;
                hash = sha256;
                unfinished = isUnfinished;
            }
            case Position.Lines(long bytes) -> at = bytes;
            case Position.Partition(long from, long next, String text, List<Position.Gap> accepted) -> {
                first = from;
                at = next;
                mark = text;
                gaps.addAll(accepted);
            }
        }
        recordsAppended = records;
        bytesAppended = at;
    }

    private static Kind kind(Position position) {
        return switch (position) {
            case Position.File _ -> Kind.FILE;
            case Position.Lines _ -> Kind.LINES;
            case Position.Partition _ -> Kind.PARTITION;
        };
    }

    public String name() {
        return name;
    }

    /// The number by which rows name it; it never changes.
    public int number() {
        return number;
    }

    public Kind kind() {
        return kind;
    }

    /// The place of a record in its dead letter. Records of a log have an offset and no line.
    public DeadLetter.Place place(long line, long offset) {
        return new DeadLetter.Place(name, kind == Kind.PARTITION ? 0 : line, offset);
    }

    /// Records that are in the results, a header included: by these a record's place is numbered. Where a record may
    /// have several lines, these are lines.
    public long records() {
        return records;
    }

    /// Records without the header.
    public long dataRecords() {
        return records - RecordEnds.lines(header, 0, header.length);
    }

    /// Bytes that are in the results; of a partition the next offset.
    public long at() {
        return at;
    }

    /// The offset that the first batch of a partition began at; below 0 if none has come.
    public long first() {
        return first;
    }

    /// Notes where a partition begins.
    public void beginAt(long offset) {
        first = offset;
        at = offset;
    }

    /// The line of CSV columns; empty if it has none, or none yet.
    public byte[] header() {
        return header;
    }

    /// Takes the line of CSV columns.
    public void setHeader(byte[] columns) {
        header = columns;
    }

    /// Whether the last line that was folded had no end.
    public boolean isUnfinished() {
        return unfinished;
    }

    /// Hash of all bytes of a file that are in the results.
    public byte[] currentHash() {
        return digest == null ? hash : LineReader.copy(digest).digest();
    }

    /// Notes records that are in the results now.
    ///
    /// @param to position behind them
    /// @param digestTo hash of a file up to there
    public void advance(long count, long to, @Nullable MessageDigest digestTo, boolean isUnfinished) {
        records += count;
        at = to;
        digest = digestTo;
        unfinished = isUnfinished;
        recordsAppended = records;
        bytesAppended = at;
    }

    /// Notes by which text the reader of a partition recognizes it.
    public void mark(String text) {
        mark = text;
    }

    /// Passes over offsets that a partition has no more.
    public void skip(Position.Gap gap) {
        gaps.add(gap);
        at = gap.to();
        bytesAppended = at;
    }

    /// Notes that the end of the unfinished last line has come.
    public void finishLine(@Nullable MessageDigest digestTo) {
        advance(0, at + 1, digestTo, false);
    }

    /// Records that are in the journal: those that are folded, or more within one commit.
    public long recordsAppended() {
        return recordsAppended;
    }

    public long bytesAppended() {
        return bytesAppended;
    }

    /// Whether the first line that comes is to be a header.
    public boolean awaitsHeader() {
        return header.length == 0 && !headerAppended;
    }

    /// Notes the progress of the source in the journal.
    public void append(long recordsTo, long bytesTo, boolean hasHeader) {
        recordsAppended = recordsTo;
        bytesAppended = bytesTo;
        headerAppended |= hasHeader;
    }

    /// As an answer states it; the bytes of a partition are not counted.
    public Answer.Progress progress() {
        return new Answer.Progress(name, dataRecords(), kind == Kind.PARTITION ? 0 : at);
    }

    /// As a checkpoint keeps it.
    public Known known() {
        Position position = switch (kind) {
            case FILE -> new Position.File(at, currentHash(), unfinished);
            case LINES -> new Position.Lines(at);
            case PARTITION -> new Position.Partition(first, at, mark, gaps);
        };
        return new Known(name, records, header, position);
    }

    /// The progress of a source in the results, as a checkpoint keeps it.
    ///
    /// @param records whole records, rejected ones and a header included
    /// @param header line of CSV columns, if the source has one; else empty
    public record Known(String name, long records, byte[] header, Position position) {
        /// Records without the header.
        public long dataRecords() {
            return records - RecordEnds.lines(header, 0, header.length);
        }

        /// Bytes of the source that are in the results; 0 for a partition, whose bytes are not counted.
        public long bytes() {
            return switch (position) {
                case Position.File file -> file.bytes();
                case Position.Lines lines -> lines.bytes();
                case Position.Partition _ -> 0;
            };
        }
    }
}
