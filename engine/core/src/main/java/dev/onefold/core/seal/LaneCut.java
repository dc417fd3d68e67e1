package dev.onefold.core.seal;

import dev.onefold.core.pipeline.Batching;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Cuts batches through lanes, which are logs: each batch takes a range of some lanes, and the next batch
/// begins where it ends. When a batch is sealed, and with how many records, [SealDecision] decides; this class
/// chooses the records.
///
///     lane 0   [ chunk 4 ][ chunk 5 ]|          a batch takes the lanes in the order of
///     lane 1   [ chunk 7 ][ chu|nk 8 ]          their oldest record, whole but for the last one,
///     lane 2        |          [ chunk 3 ]      and may divide a chunk
public final class LaneCut {
    private LaneCut() {}

    /// A place between two records of a lane.
    ///
    /// @param chunk number, from 0
    /// @param offset records of that chunk that lie before it
    public record Position(long chunk, int offset) {
        public static final Position START = new Position(0, 0);
    }

    /// Records that were written together.
    ///
    /// @param atMs when they arrived
    /// @param sizes bytes of each record, in their order; at least one
    public record Chunk(long atMs, int[] sizes) {
        public Chunk {
            if (sizes.length == 0) {
                throw new IllegalArgumentException("A chunk has no records");
            }
        }
    }

    /// The records of a lane that are in no batch yet, or the first of them.
    ///
    /// @param from where the first of them is
    /// @param chunks from that of `from` on, without a gap; all records before `from` are in batches
    public record Lane(int number, Position from, List<Chunk> chunks) {
        public Lane {
            chunks = List.copyOf(chunks);
        }
    }

    /// A range of a lane.
    ///
    /// @param from the first record
    /// @param to behind the last record
    /// @param records in the range, at least one
    public record Part(int lane, Position from, Position to, int records) {}

    /// A batch.
    ///
    /// @param parts of different lanes, in the order of the batch
    /// @param bytes as [SealDecision#bytes] counts them
    /// @param firstMs when its oldest record arrived
    /// @param lastMs when its newest record arrived
    public record Cut(List<Part> parts, int records, long bytes, long firstMs, long lastMs) {
        public Cut {
            parts = List.copyOf(parts);
        }
    }

    /// The batches that are sealed now, in the order of their numbers; empty if there is none.
    ///
    /// @param nowMs of the clock, read before the lanes; [Long#MIN_VALUE] if records of the lanes are left out:
    ///     then only full batches are sealed
    /// @param batchesMax how many batches are sealed at most
    public static List<Cut> of(Batching batching, List<Lane> lanes, long nowMs, int batchesMax) {
        List<Cursor> cursors = new ArrayList<>();
        lanes.forEach(lane -> cursors.add(new Cursor(lane)));
        List<Cut> cuts = new ArrayList<>();
        while (cuts.size() < batchesMax) {
            cursors.removeIf(Cursor::isAtEnd);
            cursors.sort(Comparator.comparingLong(Cursor::oldestMs).thenComparingInt(cursor -> cursor.lane.number));
            if (cursors.isEmpty()) {
                break;
            }
            int records = SealDecision.cut(
                    batching,
                    waiting(cursors, batching.size()),
                    cursors.getFirst().oldestMs(),
                    nowMs);
            if (records == 0) {
                break;
            }
            cuts.add(take(cursors, records));
        }
        return cuts;
    }

    /// The sizes of the first records, at most one more than fit: the extra one shows that a batch is full.
    private static long[] waiting(List<Cursor> cursors, int size) {
        long all = cursors.stream().mapToLong(Cursor::records).sum();
        long[] waiting = new long[(int) Math.min(all, size)];
        int length = 0;
        for (Cursor cursor : cursors) {
            length = cursor.addSizes(waiting, length);
        }
        return waiting;
    }

    private static Cut take(List<Cursor> cursors, int records) {
        List<Part> parts = new ArrayList<>();
        Extent extent = new Extent();
        int left = records;
        for (Cursor cursor : cursors) {
            if (left == 0) {
                break;
            }
            Part part = cursor.take(left, extent);
            parts.add(part);
            left -= part.records;
        }
        return new Cut(parts, records, extent.bytes, extent.firstMs, extent.lastMs);
    }

    /// The size of a batch, and the times of its oldest and newest records.
    private static final class Extent {
        private long bytes;
        private long firstMs = Long.MAX_VALUE;
        private long lastMs = Long.MIN_VALUE;

        void add(Chunk chunk, int from, int to) {
            for (int i = from; i < to; i++) {
                bytes += SealDecision.bytes(chunk.sizes[i]);
            }
            firstMs = Math.min(firstMs, chunk.atMs);
            lastMs = Math.max(lastMs, chunk.atMs);
        }
    }

    /// How far a lane is cut.
    private static final class Cursor {
        private final Lane lane;
        private int chunk;
        private int offset;

        Cursor(Lane lane) {
            this.lane = lane;
            offset = lane.from.offset;
            skipEnd();
        }

        boolean isAtEnd() {
            return chunk == lane.chunks.size();
        }

        /// Collectors write the time by their own clocks, so a later chunk may be the older one.
        long oldestMs() {
            return lane.chunks.stream().skip(chunk).mapToLong(Chunk::atMs).min().orElse(Long.MAX_VALUE);
        }

        long records() {
            return lane.chunks.stream()
                            .skip(chunk)
                            .mapToLong(each -> each.sizes.length)
                            .sum()
                    - offset;
        }

        int addSizes(long[] waiting, int length) {
            int end = length;
            for (int i = chunk; i < lane.chunks.size(); i++) {
                int[] sizes = lane.chunks.get(i).sizes;
                for (int j = i == chunk ? offset : 0; j < sizes.length && end < waiting.length; j++) {
                    waiting[end++] = SealDecision.bytes(sizes[j]);
                }
            }
            return end;
        }

        Part take(int most, Extent extent) {
            Position from = position();
            int taken = 0;
            while (taken < most && !isAtEnd()) {
                Chunk current = lane.chunks.get(chunk);
                int count = Math.min(most - taken, current.sizes.length - offset);
                extent.add(current, offset, offset + count);
                offset += count;
                taken += count;
                skipEnd();
            }
            return new Part(lane.number, from, position(), taken);
        }

        private void skipEnd() {
            while (!isAtEnd() && offset >= lane.chunks.get(chunk).sizes.length) {
                offset -= lane.chunks.get(chunk).sizes.length;
                chunk++;
            }
        }

        private Position position() {
            return new Position(lane.from.chunk + chunk, offset);
        }
    }
}
