package dev.onefold.embedded.rows;

import java.util.concurrent.atomic.AtomicLong;

/// The memory that the state may take and takes, in bytes, off the Java heap. Thread-safe.
public final class Memory {
    private final long bytesMax;
    private final AtomicLong used = new AtomicLong();

    public Memory(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /// Counts memory that is taken, or given back if negative.
    public void change(long bytes) {
        used.addAndGet(bytes);
    }

    /// Notes that this many bytes were allocated.
    public void take(long bytes) {
        used.addAndGet(bytes);
    }

    /// Notes that this many bytes were freed.
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /// Bytes in use.
    public long used() {
        return used.get();
    }

    /// Bytes allowed.
    public long bytesMax() {
        return bytesMax;
    }

    /// Whether this many more would fit.
    public boolean fits(long more) {
        return used.get() + more <= bytesMax;
    }
}
