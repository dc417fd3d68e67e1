package dev.onefold.fakes.disk;

import java.util.function.BooleanSupplier;

/// One thing done to the content of a file, immutable.
sealed interface Change {
    /// What a disk writes whole or not at all.
    int SECTOR_BYTES = 512;

    /// `bytes[0, length)` at `position`.
    record Write(long position, byte[] bytes, int length) implements Change {}

    /// A gap `[from, to)`, left when a write starts behind the end.
    record Extend(long from, long to) implements Change {}

    record Truncate(long size) implements Change {}

    /// The size that the file has after it, if it had `size` before.
    default long sizeAfter(long size) {
        return switch (this) {
            case Write write -> Math.max(size, write.position + write.length);
            case Extend extend -> Math.max(size, extend.to);
            case Truncate truncate -> Math.min(size, truncate.size);
        };
    }

    /// The least size that the file had before it.
    default long sizeBeforeMin() {
        return switch (this) {
            case Write write -> write.position;
            case Extend extend -> extend.from;
            case Truncate truncate -> truncate.size;
        };
    }

    default void applyTo(Content content) {
        switch (this) {
            case Write write -> content.write(write.position, write.bytes, 0, write.length);
            case Extend extend -> content.zero(extend.from, extend.to);
            case Truncate truncate -> content.truncate(truncate.size);
        }
    }

    /// Applies the sectors of its data that survive; the size is another matter.
    default void tearInto(Content content, BooleanSupplier survives) {
        switch (this) {
            case Write write -> {
                for (long at = write.position; at < write.position + write.length; at = sectorEnd(at)) {
                    long end = Math.min(sectorEnd(at), write.position + write.length);
                    if (survives.getAsBoolean()) {
                        content.write(
                                write.position, write.bytes, (int) (at - write.position), (int) (end - write.position));
                    }
                }
            }
            case Extend extend -> {
                for (long at = extend.from; at < extend.to; at = sectorEnd(at)) {
                    if (survives.getAsBoolean()) {
                        content.zero(at, Math.min(sectorEnd(at), extend.to));
                    }
                }
            }
            case Truncate _ -> {}
        }
    }

    /// Where the sector ends that holds the byte at `position`.
    static long sectorEnd(long position) {
        return (position / SECTOR_BYTES + 1) * SECTOR_BYTES;
    }
}
