package dev.onefold.server.flow;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.Callback;

/// The content of an answer on its way to its reader. A reader that takes too little is cut off: an answer
/// that is sent holds memory, and a large one holds a part of the engine. A reader that takes a byte now and
/// then would hold it for ever. Not thread-safe.
public final class AnswerContent extends OutputStream {
    /// A reader has the time for this many bytes; bytes that it took before give it no more time.
    static final int STRETCH_BYTES = 1 << 20;

    /// Larger pieces go one after the other, those of all answers in turn: a virtual thread that hands over
    /// piece after piece would keep its carrier, and a short answer would wait behind hundreds of them.
    private static final int SMALL_BYTES_MAX = 8 << 10;

    private static final Semaphore LARGE = new Semaphore(1, true);

    private final Content.Sink reader;
    private final long stretchNanosMax;
    private int stretchBytes; // Bytes of the stretch that the reader has taken.
    private long stretchNanos; // Time for which the reader has been waited for in the stretch.
    private boolean isEnded;

    /// @param stretchMax time for a stretch, without the time that is spent to make the answer
    public AnswerContent(Content.Sink reader, Duration stretchMax) {
        this.reader = reader;
        stretchNanosMax = stretchMax.toNanos();
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    /// @throws IOException if the reader is gone or was cut off: nothing may be sent any more
    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        send(ByteBuffer.wrap(bytes, offset, length), false);
    }

    @Override
    public void close() throws IOException {
        if (!isEnded) {
            isEnded = true;
            send(ByteBuffer.allocate(0), true);
        }
    }

    private void send(ByteBuffer bytes, boolean isLast) throws IOException {
        int length = bytes.remaining();
        CompletableFuture<Void> taken = new CompletableFuture<>();
        long began = handOver(isLast, bytes, taken);
        try {
            taken.get(stretchNanosMax - stretchNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            isEnded = true;
            throw new IOException("The reader takes an answer too slowly", e);
        } catch (ExecutionException e) {
            isEnded = true;
            throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
        } catch (InterruptedException e) {
            isEnded = true;
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while an answer was sent");
        }
        stretchNanos += System.nanoTime() - began;
        stretchBytes += length;
        if (stretchBytes >= STRETCH_BYTES) {
            stretchBytes = 0;
            stretchNanos = 0;
        }
    }

    /// When a piece was handed over, in nanoseconds.
    private long handOver(boolean isLast, ByteBuffer bytes, CompletableFuture<Void> taken) {
        boolean isLarge = bytes.remaining() > SMALL_BYTES_MAX;
        if (isLarge) {
            LARGE.acquireUninterruptibly();
        }
        long began = System.nanoTime();
        try {
            reader.write(isLast, bytes, Callback.from(() -> taken.complete(null), taken::completeExceptionally));
        } finally {
            if (isLarge) {
                LARGE.release();
            }
        }
        return began;
    }

    /// Gives the reader its full time again, because the sent part is complete and more may come.
    @Override
    public void flush() {
        stretchBytes = 0;
        stretchNanos = 0;
    }
}
