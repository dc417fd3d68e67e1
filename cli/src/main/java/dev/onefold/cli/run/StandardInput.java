package dev.onefold.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Standard input, read ahead by a thread of its own, so that a stop need not wait for the next byte, and so that
/// whatever came while one group of lines was being forced makes up the next.
public final class StandardInput {
    private static final int READ_BYTES = 1 << 18;
    private static final int AHEAD_BYTES_MAX = 8 << 20;
    private static final long WAIT_MS = 50;

    private final InputStream in;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private byte[] ahead = new byte[READ_BYTES];
    private int length;
    private boolean ended;
    private @Nullable IOException failure;

    public StandardInput(InputStream in) {
        this.in = in;
        Thread.ofPlatform().daemon().name("onefold-stdin").start(this::read);
    }

    private void read() {
        byte[] bytes = new byte[READ_BYTES];
        try {
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                put(bytes, count);
            }
            end(null);
        } catch (IOException e) {
            end(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void put(byte[] bytes, int count) throws InterruptedException {
        lock.lock();
        try {
            while (length > AHEAD_BYTES_MAX) {
                changed.await();
            }
            if (length + count > ahead.length) {
                ahead = Arrays.copyOf(ahead, Math.max(2 * ahead.length, length + count));
            }
            System.arraycopy(bytes, 0, ahead, length, count);
            length += count;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void end(@Nullable IOException e) {
        lock.lock();
        try {
            ended = true;
            failure = e;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// All bytes that have come since; waits for the first. `null` at the end, and when a stop is asked for.
    public byte @Nullable [] take(StopRequest stop) throws IOException {
        lock.lock();
        try {
            while (length == 0 && !ended && !stop.isMade()) {
                changed.await(WAIT_MS, TimeUnit.MILLISECONDS);
            }
            if (stop.isMade()) {
                return null;
            }
            if (length == 0) {
                if (failure != null) {
                    throw failure;
                }
                return null;
            }
            byte[] taken = Arrays.copyOf(ahead, length);
            length = 0;
            changed.signalAll();
            return taken;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } finally {
            lock.unlock();
        }
    }
}
