package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.event.Event;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Row;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.IntFunction;

/// The ids of a shard that are in batches. A claim is a row whose contribution is a hash of the record's
/// content and its mark. The mark defines when the id may come again: its place among all members, or a time.
/// A place is known only when the round gives each new member its place. A forgotten claim does not count,
/// whether it is swept or not, so that no decision depends on when it is swept.
///
///     contribution = hash of the content 8, mark 8
///     of a filtered record: nothing, or the mark 8 if ids are forgotten
public final class Claims extends Shard {
    /// The id is claimed by a record that was filtered, and is in no batch.
    public static final long FILTERED = 0;

    /// The id was claimed before, by the same content.
    public static final long DUPLICATE = -1;

    /// The id was claimed before, by another content, which stays.
    public static final long CONFLICT = -2;

    static final int BYTES = 2 * Long.BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final RowReader reader;
    private final IntFunction<String> sourceName;
    private final LookAhead ahead;
    private final boolean forgets;
    private final boolean marksPlaces;
    private final ClaimSweeper sweeping;
    private long accepted;
    private long duplicate;
    private long conflicting;

    public Claims(Pipeline pipeline, Forget forget, Memory memory, IntFunction<String> sourceName) {
        super(pipeline, new Values[0], new RowStore(memory, Contents.ROWS));
        this.sourceName = sourceName;
        reader = new RowReader(pipeline, new Groups[0]);
        ahead = new LookAhead(store, 1);
        forgets = !(forget instanceof Forget.Never);
        marksPlaces = !(forget instanceof Forget.After);
        sweeping = new ClaimSweeper(store, Claims::mark);
    }

    /// The values on which claims at a moment depend.
    ///
    /// @param forgotten claims that are forgotten
    /// @param mark of a claim that is made now, unless [#setPlace] gives another one
    public record Moment(Forgotten forgotten, long mark) {}

    /// Claims the ids of records.
    ///
    /// @param claimed receives the result of each: [#FILTERED], [#DUPLICATE], [#CONFLICT], or for a new
    ///     member the position at which [#setPlace] notes its place
    public void claim(RowBatch batch, Moment moment, long[] claimed) {
        for (int i = 0; i < batch.count; i++) {
            if (i % LookAhead.ROWS == 0) {
                ahead.read(batch, i, Math.min(batch.count, i + LookAhead.ROWS));
            }
            claimed[i] = claim(batch, batch.starts[i], moment);
        }
    }

    private long claim(RowBatch batch, int start, Moment moment) {
        int keyLength = batch.keyLength(start);
        long hash = batch.hash(start);
        long slot = store.find(hash, batch.bytes, start + RowBatch.HEADER_BYTES, keyLength);
        long entry = store.index.get(slot);
        if (entry != 0 && !isForgotten(Index.location(entry), moment.forgotten)) {
            return same(batch, start, Index.location(entry)) ? duplicate() : conflict();
        }
        accepted++;
        Segment segment = store.append(batch, start);
        long end = store.appendedAt + batch.rowLength(start);
        if (forgets) {
            segment.memory.set(LONG, end - Long.BYTES, moment.mark);
        }
        store.set(slot, hash, segment);
        return isCounted(batch, start) ? RowStore.location(segment, end - Long.BYTES) : FILTERED;
    }

    private boolean isForgotten(long location, Forgotten forgotten) {
        if (!forgets) {
            return false;
        }
        Segment stored = store.segment(location);
        long at = RowStore.at(location);
        return forgotten.has(mark(stored, stored.varintEnd(at) + stored.varint(at)));
    }

    private static long mark(Segment segment, long rowEnd) {
        return segment.memory.get(LONG, rowEnd - Long.BYTES);
    }

    /// Removes some claims that are forgotten; returns whether there may be more of them.
    public boolean sweep(Forgotten forgotten) {
        return forgets && sweeping.sweep(forgotten);
    }

    private long duplicate() {
        duplicate++;
        return DUPLICATE;
    }

    private long conflict() {
        conflicting++;
        return CONFLICT;
    }

    private static boolean isCounted(RowBatch batch, int start) {
        return batch.bytes[batch.kindAt(start)] == Event.Kind.COUNTED.code();
    }

    private boolean same(RowBatch batch, int start, long location) {
        Segment stored = store.segment(location);
        long rowStart = stored.varintEnd(RowStore.at(location));
        long kind = RowReader.kindAt(stored, RowReader.versionEnd(stored, rowStart + batch.keyLength(start)));
        int arrived = batch.kindAt(start);
        return stored.matches(kind, batch.bytes, arrived, isCounted(batch, start) ? 1 + Long.BYTES : 1);
    }

    /// Notes the place of a new member.
    ///
    /// @param claimed the result that [#claim] gave in this round
    public void setPlace(long claimed, long place) {
        if (marksPlaces) {
            store.segment(claimed).memory.set(LONG, RowStore.at(claimed), place);
        }
    }

    @Override
    public Counts counts() {
        return new Counts(accepted, duplicate, 0, conflicting, 0);
    }

    @Override
    public Optional<Row> get(RowBatch.EncodedKey key) {
        long entry = store.index.get(store.find(key.hash, key.bytes, 0, key.length));
        if (entry == 0) {
            return Optional.empty();
        }
        Segment segment = store.segment(Index.location(entry));
        return Optional.of(reader.row(segment, segment.varintEnd(RowStore.at(Index.location(entry))), sourceName));
    }

    /// A claim contributes to no roll-up.
    @Override
    public void forEach(int rollup, Visitor visitor) {}
}
