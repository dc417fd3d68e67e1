package dev.onefold.cli.run;

import dev.onefold.core.event.Sha256;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Brings the lines of standard input to the engine, as many at once as there are. Not thread-safe.
final class LineIntake {
    private final EmbeddedEngine engine;
    private final String source;
    private final LongConsumer acknowledged;
    private long next;
    private byte[] carry = new byte[0];
    private @Nullable MessageDigest oversized;
    private long oversizedBytes;

    /// @param next number of the first line that comes, from 1
    /// @param acknowledged told, after each force, how many lines of the source are forced
    LineIntake(EmbeddedEngine engine, String source, long next, LongConsumer acknowledged) {
        this.engine = engine;
        this.source = source;
        this.next = next;
        this.acknowledged = acknowledged;
    }

    /// Takes lines until the input ends or a stop is asked for. Returns how many bytes of an unfinished line are
    /// left.
    long run(StandardInput input, StopRequest stop) throws IOException {
        for (byte[] bytes = input.take(stop); bytes != null; bytes = input.take(stop)) {
            take(bytes);
        }
        return oversized == null ? carry.length : oversizedBytes;
    }

    private void take(byte[] bytes) {
        int from = 0;
        if (oversized != null) {
            from = pass(oversized, bytes);
            if (oversized != null) {
                return;
            }
        }
        int end = lastLineEnd(bytes, from);
        byte[] lines = end > from ? joined(bytes, from, end) : new byte[0];
        carry = end > from ? Arrays.copyOfRange(bytes, end, bytes.length) : joined(bytes, from, bytes.length);
        if (lines.length > Limits.RECORD_BYTES_MAX) {
            appendBigOnes(lines);
        } else if (lines.length > 0) {
            append(lines);
        }
        if (carry.length > Limits.RECORD_BYTES_MAX + 1) {
            beginOversized();
        }
    }

    private void beginOversized() {
        MessageDigest digest = Sha256.digest();
        oversized = digest;
        oversizedBytes = 0;
        byte[] begun = carry;
        carry = new byte[0];
        pass(digest, begun);
    }

    /// There may be a line over the limit among these.
    private void appendBigOnes(byte[] lines) {
        int from = 0;
        for (int at = 0; at < lines.length; ) {
            int end = lineEnd(lines, at);
            if (end - at > Limits.RECORD_BYTES_MAX) {
                if (at > from) {
                    append(Arrays.copyOfRange(lines, from, at));
                }
                appendOversized(lines, at, end);
                from = end + 1;
            }
            at = end + 1;
        }
        if (from < lines.length) {
            append(Arrays.copyOfRange(lines, from, lines.length));
        }
    }

    private void appendOversized(byte[] lines, int from, int end) {
        MessageDigest digest = Sha256.digest();
        digest.update(lines, from, end - from);
        acknowledged.accept(engine.appendOversized(source, next, end - from, digest.digest()));
        next++;
    }

    /// Reads past a line over the limit, of which only length and hash are kept. Returns where the next line begins.
    private int pass(MessageDigest digest, byte[] bytes) {
        int end = lineEnd(bytes, 0);
        digest.update(bytes, 0, end);
        oversizedBytes += end;
        if (end == bytes.length) {
            return end;
        }
        acknowledged.accept(engine.appendOversized(source, next, oversizedBytes, digest.digest()));
        next++;
        oversized = null;
        return end + 1;
    }

    /// Takes the unfinished last line as a record.
    void takeRest() {
        MessageDigest digest = oversized;
        if (digest != null) {
            acknowledged.accept(engine.appendOversized(source, next, oversizedBytes, digest.digest()));
            oversized = null;
        } else if (carry.length > 0) {
            byte[] line = Arrays.copyOf(carry, carry.length + 1);
            line[carry.length] = '\n';
            carry = new byte[0];
            append(line);
        }
    }

    private byte[] joined(byte[] bytes, int from, int to) {
        byte[] joined = Arrays.copyOf(carry, carry.length + to - from);
        System.arraycopy(bytes, from, joined, carry.length, to - from);
        return joined;
    }

    private void append(byte[] lines) {
        long acknowledgedLines = engine.append(source, next, lines, lines.length);
        for (byte b : lines) {
            next += b == '\n' ? 1 : 0;
        }
        acknowledged.accept(acknowledgedLines);
    }

    private static int lineEnd(byte[] bytes, int from) {
        int end = from;
        while (end < bytes.length && bytes[end] != '\n') {
            end++;
        }
        return end;
    }

    private static int lastLineEnd(byte[] bytes, int from) {
        int end = bytes.length;
        while (end > from && bytes[end - 1] != '\n') {
            end--;
        }
        return end;
    }
}
