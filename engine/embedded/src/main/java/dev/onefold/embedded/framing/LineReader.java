package dev.onefold.embedded.framing;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.embedded.disk.Scale;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Cuts a stream into chunks of whole records, each of which ends at a line end, and hashes the bytes that it
/// hands out. A line over the limit is handed out as its length and hash; one that is far over it is never held
/// in memory. Where the state of quotes is not known, or another header comes, it stops in front of the record.
/// Not thread-safe, except [#giveBack].
public final class LineReader {
    public static final int CHUNK_BYTES = Scale.of(1 << 18);

    private static final int EAGER_BYTES_MIN = 1 << 13;
    private static final int EAGER_BYTES_MAX = 1 << 23;
    private static final byte GIVEN_BACK = '7'; // A reader of lines that were given back finds no lines in them.

    private RecordEnds ends;
    private final InputStream in;
    private final @Nullable MessageDigest digest;
    private final boolean growing;
    private final boolean eager;
    private final Blocks blocks = new Blocks();
    private byte[] carry = new byte[0];
    private boolean ended;
    private @Nullable Lines rest;
    private RecordEnds.@Nullable Fault fault;
    private JsonRecords.@Nullable Broken broken;

    private LineReader(
            RecordEnds ends, InputStream in, @Nullable MessageDigest digest, boolean growing, boolean eager) {
        this.ends = ends;
        this.in = in;
        this.digest = digest;
        this.growing = growing;
        this.eager = eager;
    }

    /// Reads full chunks, and hashes them.
    ///
    /// @param ends if these await a header, the first record is it
    /// @param digest hash of all that was read before
    /// @param growing whether an unfinished last line is left alone
    public static LineReader hashing(RecordEnds ends, InputStream in, MessageDigest digest, boolean growing) {
        return new LineReader(ends, in, digest, growing, false);
    }

    /// Hands out the available lines rather than wait for a full chunk, and hashes nothing.
    ///
    /// @param growing whether an unfinished last line is left for [#rest]
    public static LineReader eager(RecordEnds ends, InputStream in, boolean growing) {
        return new LineReader(ends, in, null, growing, true);
    }

    public static MessageDigest copy(MessageDigest digest) {
        try {
            return (MessageDigest) digest.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("The JDK's SHA-256 can be copied", e);
        }
    }

    /// Takes a byte that was read already into the hash, in front of the next bytes.
    public void pass(byte one) {
        hash(new byte[] {one}, 1);
    }

    private void hash(byte[] bytes, int length) {
        if (digest != null) {
            digest.update(bytes, 0, length);
        }
    }

    /// Takes the bytes of lines back, for lines to come. The caller does not read them any more, and gives them
    /// back at most once. Lines that are not given back are collected as garbage.
    ///
    /// Lines wait for their round while others are read. As garbage they would outlive a small young
    /// generation: the collector would copy each block, and fill the old one. Called by any thread.
    ///
    /// @throws IllegalStateException if they were given back before
    public void giveBack(Lines lines) {
        if (lines.oversized() < 0) {
            release(lines.bytes());
        }
    }

    private void release(byte[] block) {
        if (!eager) {
            blocks.giveBack(block);
        }
    }

    /// Arrays for blocks of lines, used again.
    private static final class Blocks {
        private static final int FREE_MAX = 64; // More than are under way at once.
        private static final int BYTES_MAX = 4 * CHUNK_BYTES;

        private final Set<byte[]> lent = Collections.newSetFromMap(new IdentityHashMap<>());
        private final Deque<byte[]> free = new ArrayDeque<>();

        /// An array of at least this many bytes.
        synchronized byte[] take(int bytes) {
            byte[] block = free.poll();
            if (block == null || block.length < bytes) {
                block = new byte[bytes];
            }
            if (block.length <= BYTES_MAX) {
                lent.add(block);
            }
            return block;
        }

        synchronized void giveBack(byte[] block) {
            if (block.length > BYTES_MAX) {
                return;
            }
            if (!lent.remove(block)) {
                throw new IllegalStateException("A block of lines was given back twice");
            }
            assert overwrite(block);
            if (free.size() < FREE_MAX) {
                free.push(block);
            }
        }

        private static boolean overwrite(byte[] block) {
            Arrays.fill(block, GIVEN_BACK);
            return true;
        }
    }

    /// The hash of the bytes that were handed out so far; `null` if nothing is hashed.
    public @Nullable MessageDigest digest() {
        return digest == null ? null : copy(digest);
    }

    /// Whole lines, or one line that is too long.
    ///
    /// @param length bytes of `bytes` that are lines, line ends included
    /// @param oversized bytes of a line over the limit, without its end, or -1
    /// @param oversizedHash its SHA-256
    /// @param consumed bytes of the source that this is
    /// @param digest hash of the source up to here; `null` if nothing is hashed
    public record Lines(
            byte[] bytes,
            int length,
            long oversized,
            byte[] oversizedHash,
            long consumed,
            @Nullable MessageDigest digest) {}

    /// The unfinished last line that was left alone; `null` before the end, and if there is none.
    public @Nullable Lines rest() {
        return rest;
    }

    /// The ends of the records, behind the header if they have one.
    public RecordEnds ends() {
        return ends;
    }

    /// Why it stopped before the end; the lines of the fault count from those that were not handed out. `null`
    /// if it did not.
    public RecordEnds.@Nullable Fault fault() {
        return fault;
    }

    /// The next lines, or `null` at the end.
    public @Nullable Lines next() throws IOException {
        byte[] buffer = block(bufferBytes());
        System.arraycopy(carry, 0, buffer, 0, carry.length);
        int length = carry.length;
        int end = ends.lastEnd(buffer, 0, length);
        boolean isKnown = eager && isKnown(buffer, end, length);
        while (true) {
            int capacity = buffer.length - Decoder.PADDING;
            int seen = length;
            while (!ended && length < capacity && !isKnown) {
                int read = read(buffer, length, capacity - length);
                ended = read < 0;
                length += Math.max(read, 0);
                if (eager && firstNewline(buffer, seen, length) < length) {
                    end = lastEnd(buffer, end, seen, length);
                    isKnown = isKnown(buffer, end, length);
                }
                seen = eager ? length : seen;
            }
            end = eager ? end : lastEnd(buffer, end, seen, length);
            if (end > 0) {
                end = beforeOversized(buffer, end);
                return end == 0 ? oversized(buffer, length) : cut(buffer, end, length);
            }
            if (broken != null) {
                throw broken;
            }
            if (ended && length == 0) {
                release(buffer);
                return null;
            }
            boolean isTooLong = length > Limits.RECORD_BYTES_MAX + 1;
            if (isFault(
                    ended && !growing ? ends.endOfLast(buffer, 0, length) : ends.end(buffer, 0, length), isTooLong)) {
                return stop(buffer, length);
            }
            if (ended) {
                return last(cut(buffer, length, length));
            }
            if (isTooLong) {
                return oversized(buffer, length);
            }
            byte[] larger = block(capacity * 2);
            System.arraycopy(buffer, 0, larger, 0, length);
            release(buffer);
            buffer = larger;
        }
    }

    /// The records in front of one that is broken are handed out first.
    private int read(byte[] buffer, int from, int count) throws IOException {
        try {
            return in.read(buffer, from, count);
        } catch (JsonRecords.Broken e) {
            broken = e;
            return -1;
        }
    }

    /// @param end behind the last record before `seen`
    private int lastEnd(byte[] buffer, int end, int seen, int length) {
        int header = ends.awaitsHeader() ? ends.end(buffer, 0, length) : 0;
        if (header > 0) {
            ends = ends.behind(buffer, header);
        }
        int from = ends.mayHaveLines() || ends.seesHeaders() ? end : seen;
        int found = ends.lastEnd(buffer, from, length);
        return found > from ? found : end;
    }

    /// Whether there are records to hand out, or what comes does not say where the first one ends.
    private boolean isKnown(byte[] buffer, int end, int length) {
        int state = end > 0 ? end : ends.end(buffer, 0, length);
        return end > 0 || state == RecordEnds.BROKEN || state == RecordEnds.ENDLESS || state == RecordEnds.OTHER_HEADER;
    }

    private boolean isFault(int state, boolean isTooLong) {
        return switch (state) {
            case RecordEnds.BROKEN, RecordEnds.ENDLESS, RecordEnds.OTHER_HEADER -> true;
            case RecordEnds.OPEN -> isTooLong || ended && !growing;
            default -> false;
        };
    }

    private @Nullable Lines stop(byte[] buffer, int length) {
        fault = ends.fault(buffer, 0, length);
        release(buffer);
        ended = true;
        carry = new byte[0];
        return null;
    }

    private byte[] block(int bytes) {
        return eager ? new byte[bytes + Decoder.PADDING] : blocks.take(bytes + Decoder.PADDING);
    }

    private int bufferBytes() throws IOException {
        return eager
                ? Math.max(EAGER_BYTES_MIN, carry.length + Math.min(in.available(), EAGER_BYTES_MAX))
                : Math.max(CHUNK_BYTES, carry.length + CHUNK_BYTES / 2);
    }

    private @Nullable Lines last(Lines unfinished) {
        if (growing) {
            rest = unfinished;
            carry = new byte[0];
            return null;
        }
        return unfinished;
    }

    /// The beginning of the first line over the limit; otherwise the end of the lines.
    private int beforeOversized(byte[] buffer, int end) {
        if (end <= Limits.RECORD_BYTES_MAX) {
            return end;
        }
        for (int from = 0; from < end; ) {
            int next = ends.end(buffer, from, end);
            int to = next - 1;
            int length = to - from - (to > from && buffer[to - 1] == '\r' ? 1 : 0);
            if (length > Limits.RECORD_BYTES_MAX) {
                return from;
            }
            from = next;
        }
        return end;
    }

    private Lines cut(byte[] buffer, int end, int length) {
        carry = Arrays.copyOfRange(buffer, end, length);
        hash(buffer, end);
        return new Lines(buffer, end, -1, new byte[0], end, digest());
    }

    /// A record of several lines is not one of these: where it ends is no longer known.
    private @Nullable Lines oversized(byte[] buffer, int length) throws IOException {
        MessageDigest line = Sha256.digest();
        long bytes = 0;
        byte[] more = new byte[CHUNK_BYTES];
        byte[] part = buffer;
        int end = ends.end(buffer, 0, length);
        for (int count = length; count >= 0; count = in.read(more)) {
            int newline = firstNewline(part, 0, count);
            boolean isInside = newline < count ? end != newline + 1 : end < RecordEnds.UNENDED;
            if (bytes == 0 ? isInside : ends.hasQuote(part, 0, newline)) {
                return stop(buffer, end < 0 ? length : end);
            }
            line.update(part, 0, newline);
            bytes += newline;
            if (newline < count) {
                hash(part, newline + 1);
                carry = Arrays.copyOfRange(part, newline + 1, count);
                release(buffer);
                return new Lines(new byte[0], 0, bytes, line.digest(), bytes + 1, digest());
            }
            hash(part, count);
            part = more;
        }
        ended = true;
        carry = new byte[0];
        release(buffer);
        return last(new Lines(new byte[0], 0, bytes, line.digest(), bytes, digest()));
    }

    /// The next line end, or the end of the bytes.
    private static int firstNewline(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && bytes[at] != '\n') {
            at++;
        }
        return at;
    }
}
