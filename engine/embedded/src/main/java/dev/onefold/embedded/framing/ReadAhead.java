package dev.onefold.embedded.framing;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A stream such as standard input, read ahead by a thread of its own. So a stop need not wait for the next byte, and
/// the lines that came while one group of lines was being forced make up the next group. One thread reads.
public final class ReadAhead extends InputStream {
    private static final int READ_BYTES = 1 << 18;
    private static final int AHEAD_BYTES_MAX = 8 << 20;
    private static final long WAIT_MS = 50;

    private final InputStream in;
    private final BooleanSupplier stop;
    private byte[] ahead = new byte[READ_BYTES];
    private int from;
    private int to;
    private boolean ended;
    private volatile boolean closed;
    private @Nullable IOException failure;

    /// @param stop whether the stream is to end now
    public ReadAhead(InputStream in, BooleanSupplier stop) {
        this.in = in;
        this.stop = stop;
        Thread.ofPlatform().daemon().name("onefold-stdin").start(this::readAll);
    }

    private void readAll() {
        byte[] bytes = new byte[READ_BYTES];
        try {
            for (int count = in.read(bytes); count >= 0 && put(bytes, count); ) {
                count = in.read(bytes);
            }
            end(null);
        } catch (IOException e) {
            end(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) { // Otherwise a reader that waits for more would wait for ever.
            end(new IOException("Reading ahead failed: " + e, e));
        }
    }

    /// Returns whether more is wanted.
    private synchronized boolean put(byte[] bytes, int count) throws InterruptedException {
        while (to - from > AHEAD_BYTES_MAX && !isOver()) {
            wait(WAIT_MS);
        }
        if (isOver()) {
            return false;
        }
        if (to + count > ahead.length) {
            byte[] target =
                    to - from + count > ahead.length ? new byte[Math.max(2 * ahead.length, to - from + count)] : ahead;
            System.arraycopy(ahead, from, target, 0, to - from);
            ahead = target;
            to -= from;
            from = 0;
        }
        System.arraycopy(bytes, 0, ahead, to, count);
        to += count;
        notifyAll();
        return true;
    }

    private boolean isOver() {
        return closed || stop.getAsBoolean();
    }

    private synchronized void end(@Nullable IOException e) {
        ended = true;
        failure = e;
        notifyAll();
    }

    @Override
    public synchronized int available() {
        return to - from;
    }

    @Override
    public int read() throws IOException {
        byte[] next = readNBytes(1);
        return next.length == 0 ? -1 : next[0] & 0xff;
    }

    /// Ends the thread that reads ahead, behind the read that it is in. The stream itself stays open.
    @Override
    public void close() {
        closed = true;
    }

    /// Waits for the first byte. -1 at the end, and when a stop is asked for.
    @Override
    public synchronized int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        try {
            while (to == from && !ended && !isOver()) {
                wait(WAIT_MS);
            }
            if (isOver()) {
                return -1;
            }
            if (to == from) {
                if (failure != null) {
                    throw failure;
                }
                return -1;
            }
            int count = Math.min(length, to - from);
            System.arraycopy(ahead, from, bytes, offset, count);
            from += count;
            notifyAll();
            return count;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }
}
