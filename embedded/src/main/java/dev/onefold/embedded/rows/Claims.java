package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.event.Event;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The ids of a shard that are in batches. A claim is a row whose contribution is a hash of the record's content and
/// its
/// place among all members, which is known only when the round gives each new member its place. Owned by one thread at
/// a time.
///
///     contribution = hash of the content 8, place among all members 8; nothing if the record was filtered
public final class Claims {
    /// The id is claimed by a record that was filtered, and is in no batch.
    public static final long FILTERED = 0;

    /// The id was claimed before, by the same content.
    public static final long DUPLICATE = -1;

    /// The id was claimed before, by another content, which stays.
    public static final long CONFLICT = -2;

    static final int BYTES = 2 * Long.BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final RowStore store;
    private final LookAhead ahead;
    private long accepted;
    private long duplicate;
    private long conflicting;

    Claims(RowStore store, LookAhead ahead) {
        this.store = store;
        this.ahead = ahead;
    }

    /// Claims the ids of records.
    ///
    /// @param claimed is filled with what became of each: [#FILTERED], [#DUPLICATE], [#CONFLICT], or for a
    ///     new member where [#setPlace] notes its place
    public void claim(RowBatch batch, long[] claimed) {
        for (int i = 0; i < batch.count; i++) {
            if (i % LookAhead.ROWS == 0) {
                ahead.read(batch, i, Math.min(batch.count, i + LookAhead.ROWS));
            }
            claimed[i] = claim(batch, batch.starts[i]);
        }
    }

    private long claim(RowBatch batch, int start) {
        int keyLength = batch.keyLength(start);
        long hash = batch.hash(start);
        long slot = store.find(hash, batch.bytes, start + RowBatch.HEADER_BYTES, keyLength);
        long entry = store.index.get(slot);
        if (entry != 0) {
            return same(batch, start, Index.location(entry)) ? duplicate() : conflict();
        }
        accepted++;
        Segment segment = store.append(batch, start);
        long end = store.appendedAt + batch.rowLength(start);
        store.add(slot, hash, segment);
        return isCounted(batch, start) ? RowStore.location(segment, end - Long.BYTES) : FILTERED;
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
    /// @param claimed that [#claim] gave in this round
    public void setPlace(long claimed, long place) {
        store.segment(claimed).memory.set(LONG, RowStore.at(claimed), place);
    }

    Counts counts() {
        return new Counts(accepted, duplicate, 0, conflicting, 0);
    }
}
