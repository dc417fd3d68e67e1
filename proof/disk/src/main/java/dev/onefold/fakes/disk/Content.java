package dev.onefold.fakes.disk;

import java.util.Arrays;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The bytes of a file, in blocks of which those never written are absent and read as zeros. What lies behind the
/// size in the last block may be anything. A copy shares all blocks until one side writes. Guarded by the disk's lock.
final class Content {
    static final int BLOCK_BYTES = 4_096;

    private static final class Owner {}

    /// A block may be written by the content that is its owner, and by nobody else.
    private static final class Block {
        final Owner owner;
        final byte[] bytes;

        Block(Owner owner, byte[] bytes) {
            this.owner = owner;
            this.bytes = bytes;
        }
    }

    private final NavigableMap<Long, Block> blocks;
    private Owner owner = new Owner();
    private long size;

    Content() {
        this(new TreeMap<>(), 0);
    }

    private Content(NavigableMap<Long, Block> blocks, long size) {
        this.blocks = blocks;
        this.size = size;
    }

    Content copy() {
        owner = new Owner();
        return new Content(new TreeMap<>(blocks), size);
    }

    long size() {
        return size;
    }

    /// Bytes of disk that it occupies.
    long allocatedBytes() {
        return (long) blocks.size() * BLOCK_BYTES;
    }

    /// Reads as much as there is and returns how much that was.
    int read(long position, byte[] target, int length) {
        int count = (int) Math.max(0, Math.min(length, size - position));
        for (int done = 0; done < count; ) {
            long at = position + done;
            int inBlock = (int) (at % BLOCK_BYTES);
            int piece = Math.min(count - done, BLOCK_BYTES - inBlock);
            @Nullable Block block = blocks.get(at / BLOCK_BYTES);
            if (block == null) {
                Arrays.fill(target, done, done + piece, (byte) 0);
            } else {
                System.arraycopy(block.bytes, inBlock, target, done, piece);
            }
            done += piece;
        }
        return count;
    }

    /// Writes `source[from, to)` so that `source[0]` would stand at `position`; grows when it must.
    void write(long position, byte[] source, int from, int to) {
        for (int done = from; done < to; ) {
            long at = position + done;
            int inBlock = (int) (at % BLOCK_BYTES);
            int piece = Math.min(to - done, BLOCK_BYTES - inBlock);
            System.arraycopy(source, done, writable(at / BLOCK_BYTES), inBlock, piece);
            done += piece;
        }
        if (to > from) {
            size = Math.max(size, position + to);
        }
    }

    /// Sets `[from, to)` to zero, without allocating; grows when it must.
    void zero(long from, long to) {
        for (long at = from; at < to; ) {
            long block = at / BLOCK_BYTES;
            long end = Math.min(to, (block + 1) * BLOCK_BYTES);
            if (blocks.containsKey(block)) {
                int inBlock = (int) (at % BLOCK_BYTES);
                Arrays.fill(writable(block), inBlock, inBlock + (int) (end - at), (byte) 0);
            }
            at = end;
        }
        size = Math.max(size, to);
    }

    /// Cuts the content; a size beyond the present one changes nothing.
    void truncate(long newSize) {
        if (newSize >= size) {
            return;
        }
        long firstGone = (newSize + BLOCK_BYTES - 1) / BLOCK_BYTES;
        blocks.tailMap(firstGone, true).clear();
        size = newSize;
    }

    /// How many of `length` bytes at `position` can be written when that many bytes of disk are free.
    int fitting(long position, int length, long freeBytes) {
        long freeBlocks = freeBytes / BLOCK_BYTES;
        for (int done = 0; done < length; ) {
            long at = position + done;
            if (!blocks.containsKey(at / BLOCK_BYTES) && --freeBlocks < 0) {
                return done;
            }
            done = (int) Math.min(length, done + BLOCK_BYTES - at % BLOCK_BYTES);
        }
        return length;
    }

    void flipBit(long bitIndex) {
        long at = bitIndex / Byte.SIZE;
        byte[] block = writable(at / BLOCK_BYTES);
        block[(int) (at % BLOCK_BYTES)] ^= (byte) (1 << (bitIndex % Byte.SIZE));
    }

    private byte[] writable(long index) {
        @Nullable Block block = blocks.get(index);
        if (block == null || block.owner != owner) {
            block = new Block(owner, block == null ? new byte[BLOCK_BYTES] : block.bytes.clone());
            blocks.put(index, block);
        }
        return block.bytes;
    }
}
