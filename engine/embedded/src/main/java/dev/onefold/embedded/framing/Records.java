package dev.onefold.embedded.framing;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.seal.RecordLine;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Walks over the records of some bytes. Not thread-safe.
public final class Records {
    private final Framing framing;
    private final byte[] bytes;
    private final int end;
    private final long base;
    private @Nullable Function<Records, byte @Nullable []> edits;
    private byte[] content;
    private boolean isEdited;
    private int next;
    private int at;
    private int from;
    private int to;
    private int lines;
    private int comments;
    private long place;
    private long sentMs;
    private byte[] message = {};

    /// @param at where the first record's frame begins
    /// @param end behind the last record
    /// @param base place of the first byte, where places are bytes
    public Records(Framing framing, byte[] bytes, int at, int end, long base) {
        content = bytes;
        this.framing = framing;
        this.bytes = bytes;
        this.end = end;
        this.base = base;
        next = at;
    }

    /// The same records, some of which were edited.
    ///
    /// @param by gives the edit that replaces a record; `null` if there is none
    public Records edited(Function<Records, byte @Nullable []> by) {
        edits = by;
        return this;
    }

    /// Goes to the next record; false behind the last one.
    public boolean next() {
        if (next >= end) {
            return false;
        }
        frame();
        at = from;
        byte[] edit = edits == null ? null : edits.apply(this);
        isEdited = edit != null;
        content = edit == null ? bytes : Arrays.copyOf(edit, edit.length + Decoder.PADDING);
        if (edit != null) {
            from = 0;
            to = framing.isOfLines() && edit.length > 0 && edit[edit.length - 1] == '\r'
                    ? edit.length - 1
                    : edit.length;
        }
        return true;
    }

    private void frame() {
        lines = 1;
        comments = 0;
        if (framing.kind() == Framing.Kind.LENGTHS) {
            ByteBuffer frame = ByteBuffer.wrap(bytes, next, Framing.PREFIX_BYTES);
            place = frame.getLong();
            from = next + Framing.PREFIX_BYTES;
            to = from + frame.getInt();
            next = to;
            return;
        }
        if (framing.kind() == Framing.Kind.MESSAGES) {
            nextMessage();
            return;
        }
        from = next;
        int plain = framing.ends().plainEnd(bytes, from, end);
        next = plain >= 0 ? plain : framing.end(bytes, from, end);
        to = next > from && bytes[next - 1] == '\n' ? next - 1 : next;
        to = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        lines = plain >= 0 ? 1 : (int) RecordEnds.lines(bytes, from, next);
        int begin = plain >= 0 ? from : framing.ends().behindComments(bytes, from, to);
        comments = begin == from ? 0 : (int) RecordEnds.lines(bytes, from, begin);
        place = base + begin;
    }

    /// A body may be a line with its end.
    private void nextMessage() {
        ByteBuffer frame = ByteBuffer.wrap(bytes, next, Framing.MESSAGE_PREFIX_BYTES);
        place = base + next;
        int length = frame.getInt();
        sentMs = frame.getLong();
        int id = next + Framing.MESSAGE_PREFIX_BYTES;
        from = id + frame.getShort();
        message = Arrays.copyOfRange(bytes, id, from);
        next = from + length;
        to = RecordLine.end(bytes, from, next);
    }

    /// When the message was sent, epoch milliseconds, with [Framing#MESSAGES].
    public long sentMs() {
        return sentMs;
    }

    /// The id of the message, with [Framing#MESSAGES].
    public byte[] message() {
        return message;
    }

    /// The place where the record, or the one that an edit replaces, begins in the bytes: no two begin at one
    /// place.
    public int at() {
        return at;
    }

    /// Holds the record, with room behind it for the decoder.
    public byte[] content() {
        return content;
    }

    /// Whether an edit replaces the record.
    public boolean isEdited() {
        return isEdited;
    }

    /// Where the record begins in its [#content].
    public int from() {
        return from;
    }

    /// Where it ends, without its line end.
    public int to() {
        return to;
    }

    /// How many lines of its source it has.
    public int lines() {
        return lines;
    }

    /// How many of its lines are comments in front of it. A file that ended there and has grown since was read
    /// with these lines apart, so they are not a part of its place.
    public int comments() {
        return comments;
    }

    /// Its place in its source.
    public long place() {
        return place;
    }

    /// Its bytes.
    public byte[] copy() {
        return Arrays.copyOfRange(content, from, to);
    }
}
