package dev.onefold.embedded.fold;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Sha256;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.embedded.disk.Scale;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Cuts a stream into chunks of whole lines and hashes what it hands out. A line over the limit is never held in
/// memory: it is read past, and handed out as its length and hash. Not thread-safe.
public final class LineReader {
    public static final int CHUNK_BYTES = Scale.of(1 << 18);

    private final InputStream in;
    private final boolean growing;
    private final boolean eager;
    private final MessageDigest digest;
    private byte[] carry = new byte[0];
    private boolean ended;

    /// @param digest hash of all that was read before
    /// @param growing an unfinished last line is left alone
    /// @param eager hand out what there is rather than wait for a full chunk
    public LineReader(InputStream in, MessageDigest digest, boolean growing, boolean eager) {
        this.in = in;
        this.digest = digest;
        this.growing = growing;
        this.eager = eager;
    }

    public static MessageDigest copy(MessageDigest digest) {
        try {
            return (MessageDigest) digest.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("The JDK's SHA-256 can be copied", e);
        }
    }

    /// Takes a byte into the hash that was read already, in front of what comes.
    public void pass(byte one) {
        digest.update(one);
    }

    /// The hash of what was handed out so far.
    public MessageDigest digest() {
        return copy(digest);
    }

    /// Whole lines, or one line that is too long.
    ///
    /// @param length bytes of `bytes` that are lines, line ends included
    /// @param oversized bytes of a line over the limit, without its end, or -1
    /// @param oversizedHash its SHA-256
    /// @param consumed bytes of the source that this is
    /// @param digest hash of the source up to here
    public record Lines(
            byte[] bytes, int length, long oversized, byte[] oversizedHash, long consumed, MessageDigest digest) {}

    /// The next lines, or `null` at the end.
    @Nullable
    public Lines next() throws IOException {
        byte[] buffer = new byte[Math.max(CHUNK_BYTES, carry.length + CHUNK_BYTES / 2) + Decoder.PADDING];
        System.arraycopy(carry, 0, buffer, 0, carry.length);
        int length = carry.length;
        int searched = 0;
        while (true) {
            int capacity = buffer.length - Decoder.PADDING;
            while (!ended && length < capacity) {
                int read = in.read(buffer, length, capacity - length);
                if (read < 0) {
                    ended = true;
                } else {
                    length += read;
                    if (eager && lastNewline(buffer, searched, length) >= 0) {
                        break;
                    }
                }
            }
            int newline = lastNewline(buffer, searched, length);
            if (newline >= 0) {
                return cut(buffer, newline + 1, length);
            }
            if (ended) {
                return length == 0 || growing ? null : cut(buffer, length, length);
            }
            if (length > Limits.RECORD_BYTES_MAX + 1) {
                return oversized(buffer, length);
            }
            searched = length;
            buffer = Arrays.copyOf(buffer, capacity * 2 + Decoder.PADDING);
        }
    }

    private Lines cut(byte[] buffer, int end, int length) {
        carry = Arrays.copyOfRange(buffer, end, length);
        digest.update(buffer, 0, end);
        return new Lines(buffer, end, -1, new byte[0], end, copy(digest));
    }

    private Lines oversized(byte[] buffer, int length) throws IOException {
        MessageDigest line = Sha256.digest();
        line.update(buffer, 0, length);
        digest.update(buffer, 0, length);
        long bytes = length;
        carry = new byte[0];
        byte[] more = new byte[CHUNK_BYTES];
        int newline = -1;
        while (newline < 0) {
            int read = in.read(more);
            if (read < 0) {
                ended = true;
                break;
            }
            newline = firstNewline(more, read);
            int end = newline < 0 ? read : newline;
            line.update(more, 0, end);
            digest.update(more, 0, newline < 0 ? read : newline + 1);
            bytes += end;
            if (newline >= 0) {
                carry = Arrays.copyOfRange(more, newline + 1, read);
            }
        }
        return new Lines(new byte[0], 0, bytes, line.digest(), bytes + (newline >= 0 ? 1 : 0), copy(digest));
    }

    private static int lastNewline(byte[] bytes, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            if (bytes[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private static int firstNewline(byte[] bytes, int to) {
        for (int i = 0; i < to; i++) {
            if (bytes[i] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
