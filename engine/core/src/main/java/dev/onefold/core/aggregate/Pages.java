package dev.onefold.core.aggregate;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongConsumer;

/// Pages of equal size off the Java heap, taken and given back one by one. Memory is taken from the system in slabs
/// and returned when all of it is closed; a page that is given back is the next one to be taken. Is not thread-safe.
final class Pages implements AutoCloseable {
    static final int BYTES = 8 << 10;
    private static final int SLAB_PAGES = 16;
    static final int SLAB_BYTES = SLAB_PAGES * BYTES;

    private final LongConsumer account;
    private final Arena arena = Arena.ofShared();
    private MemorySegment[] pages = new MemorySegment[0];
    private int count;
    private int[] free = new int[SLAB_PAGES];
    private int freeCount;
    private boolean closed;

    /// @param account receives each change of the bytes in use
    Pages(LongConsumer account) {
        this.account = account;
    }

    /// The memory of a page.
    MemorySegment page(int number) {
        return pages[number];
    }

    /// A page with unknown content.
    int take() {
        if (freeCount == 0) {
            addSlab();
        }
        return free[--freeCount];
    }

    private void addSlab() {
        MemorySegment slab = arena.allocate((long) SLAB_PAGES * BYTES, 64);
        account.accept(slab.byteSize());
        if (count + SLAB_PAGES > pages.length) {
            pages = Arrays.copyOf(pages, Math.max(2 * pages.length, SLAB_PAGES));
        }
        for (int i = 0; i < SLAB_PAGES; i++) {
            pages[count + i] = slab.asSlice((long) i * BYTES, BYTES);
            give(count + SLAB_PAGES - 1 - i);
        }
        count += SLAB_PAGES;
    }

    void give(int number) {
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, 2 * freeCount);
        }
        free[freeCount++] = number;
    }

    /// Bytes taken from the system.
    long bytes() {
        return (long) count * BYTES;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            account.accept(-bytes());
            arena.close();
        }
    }
}
