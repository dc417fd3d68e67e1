package dev.onefold.api;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/// The content of an answer, which must come in time: a thread closes the stream below when the time is over, and the
/// read that waits fails. Is not thread-safe.
final class TimedContent extends FilterInputStream {
    private final Span span;
    private final Duration limit;
    private final Thread watch;
    private volatile long since = System.nanoTime();
    private volatile boolean isWaiting;
    private volatile boolean isOver;

    /// The part of the content that the limit is for.
    enum Span {
        /// All of it, from now on.
        WHOLE,

        /// Each read of it. The time that its reader takes between two reads does not count.
        WAIT
    }

    /// No byte came for the whole limit.
    static final class Silent extends HttpTimeoutException {
        private static final long serialVersionUID = 1;

        Silent(Duration limit) {
            super("sent nothing for " + limit.toSeconds() + " s in the middle of an answer");
        }
    }

    TimedContent(InputStream content, Span span, Duration limit) {
        super(content);
        this.span = span;
        this.limit = limit;
        isWaiting = span == Span.WHOLE;
        watch = Thread.ofVirtual().unstarted(this::watch);
        watch.start();
    }

    private void watch() {
        try {
            Duration left = limit;
            while (left.isPositive()) {
                Thread.sleep(left);
                left = isWaiting ? limit.minusNanos(System.nanoTime() - since) : limit;
            }
            isOver = true;
            in.close();
        } catch (InterruptedException | IOException ended) {
            // The answer was read, or has failed by itself.
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (span == Span.WAIT) {
            since = System.nanoTime(); // Before the flag, which makes the time count.
            isWaiting = true;
        }
        try {
            return super.read(target, offset, length);
        } catch (IOException e) {
            if (isOver) {
                Silent silent = new Silent(limit);
                silent.initCause(e);
                throw silent;
            }
            throw e;
        } finally {
            isWaiting = span == Span.WHOLE;
        }
    }

    @Override
    public void close() throws IOException {
        watch.interrupt();
        super.close();
    }
}
