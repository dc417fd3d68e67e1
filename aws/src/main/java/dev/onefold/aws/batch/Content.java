package dev.onefold.aws.batch;

import dev.onefold.aws.batch.Chunks.Place;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Members.Range;
import dev.onefold.core.seal.LaneCut.Part;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The content of a batch, or of a part of one: its records, each with a line end. It is read chunk by chunk, so
/// that a large batch takes little memory; of a whole batch some chunks are read at once. It fails at its end if it
/// does not have as many records as were sealed. Not thread-safe.
final class Content extends InputStream {
    private final Chunks chunks;
    private final Deque<Range> ranges;
    private final int expected;
    private final boolean isWhole;
    private final int ahead;
    private final Deque<Piece> pieces = new ArrayDeque<>();
    private final Deque<ChunkItem> read = new ArrayDeque<>(); // Of the next pieces.
    private byte[] buffer = new byte[0];
    private int at;
    private int place;
    private int found;

    /// A chunk, or a range of one.
    ///
    /// @param to behind the last record; [Integer#MAX_VALUE] for all that the chunk has
    private record Piece(int lane, long chunk, int from, int to) {}

    Content(Chunks chunks, SealedBatch batch, Members members) {
        this(chunks, batch, members, 1);
    }

    /// @param ahead chunks of a whole batch that are read at once
    Content(Chunks chunks, SealedBatch batch, Members members, int ahead) {
        this.chunks = chunks;
        this.ahead = ahead;
        ranges = new ArrayDeque<>(members.ranges());
        expected = members.count();
        isWhole = expected == batch.cut().records();
        for (Part part : batch.cut().parts()) {
            for (long chunk = part.from().chunk(); chunk <= part.to().chunk(); chunk++) {
                int from = chunk == part.from().chunk() ? part.from().offset() : 0;
                int to = chunk == part.to().chunk() ? part.to().offset() : Integer.MAX_VALUE;
                if (to > 0) {
                    pieces.add(new Piece(part.lane(), chunk, from, to));
                }
            }
        }
    }

    @Override
    public int read() {
        return fill() ? buffer[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, buffer.length - at);
        System.arraycopy(buffer, at, into, offset, count);
        at += count;
        return count;
    }

    private boolean fill() {
        while (at == buffer.length) {
            Piece piece = pieces.poll();
            if (piece == null) {
                if (found != expected) {
                    throw new IllegalStateException("A batch has " + expected + " records, and " + found
                            + " were found: chunks of its lanes are damaged. Nothing of it is delivered.");
                }
                return false;
            }
            buffer = lines(piece);
            at = 0;
        }
        return true;
    }

    private byte[] lines(Piece piece) {
        int all = isWhole
                ? 0
                : Math.min(piece.to, chunks.chunk(piece.lane, piece.chunk).sizes().length) - piece.from;
        if (!isWhole && next(place, place + all) == null) {
            place += all;
            return new byte[0];
        }
        ChunkItem chunk = chunk(piece);
        int[] sizes = chunk.chunk().sizes();
        byte[] lines = new byte[Math.toIntExact(chunk.bytes())];
        int length = 0;
        int from = 0;
        for (int record = 0; record < Math.min(piece.to, sizes.length); record++) {
            if (record >= piece.from) {
                if (next(place, place + 1) != null) {
                    System.arraycopy(chunk.data(), from, lines, length, sizes[record]);
                    length += sizes[record];
                    lines[length++] = '\n';
                    found++;
                }
                place++;
            }
            from += sizes[record];
        }
        return Arrays.copyOf(lines, length);
    }

    private ChunkItem chunk(Piece piece) {
        if (read.isEmpty()) {
            // Of a part many chunks may have no record.
            List<Place> next = Stream.concat(Stream.of(piece), pieces.stream())
                    .limit(isWhole ? ahead : 1)
                    .map(each -> new Place(each.lane, each.chunk))
                    .toList();
            read.addAll(chunks.items(next));
        }
        return chunks.whole(read.remove());
    }

    /// The first of the ranges that are left which has a place from `from` to before `to`.
    private @Nullable Range next(int from, int to) {
        while (!ranges.isEmpty() && ranges.getFirst().to() <= from) {
            ranges.removeFirst();
        }
        return ranges.isEmpty() || ranges.getFirst().from() >= to ? null : ranges.getFirst();
    }
}
