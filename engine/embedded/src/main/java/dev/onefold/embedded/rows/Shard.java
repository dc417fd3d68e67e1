package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Row;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/// One shard of a view, by the kind of its fold: the stores of its records, and the cells of these. Owned by
/// one thread at a time.
public abstract sealed class Shard permits Rows, Keys, Claims {
    /// The store that each record reads.
    final RowStore store;

    final Cells[] cells;
    /// The amounts of the rows that were forgotten, by roll-up.
    final Cells[] forgotten;

    private final RowStore[] stores;

    /// @param values of each roll-up; other shards have the same ones
    Shard(Pipeline pipeline, Values[] values, RowStore... stores) {
        this.stores = stores;
        store = stores[0];
        cells = new Cells[values.length];
        Arrays.setAll(cells, rollup -> new Cells(pipeline, rollup, values[rollup]));
        forgotten = new Cells[values.length];
        Arrays.setAll(forgotten, rollup -> new Cells(pipeline, rollup, values[rollup]));
    }

    /// Makes the shards of one kind.
    public interface Maker {
        /// @param sourceName the name of a source by its number
        Shard shard(Pipeline pipeline, Groups[] groups, Values[] values, Memory memory, IntFunction<String> sourceName);
    }

    /// Bytes of memory that a batch may need, at most; with a function, as far as is known.
    public long bytesFor(long batchBytes, long batchCount) {
        return store.bytesFor(batchBytes, batchCount);
    }

    /// Bytes of memory that lines may need which are not decoded yet.
    public long bytesForLines(long lines, long bytes) {
        return bytesFor(2 * bytes, bytes / 8);
    }

    /// Notes that all records were loaded from files.
    public final void loaded(RowFiles files) {
        countLoaded();
        map(files);
    }

    /// Notes that all records were taken over from other shards.
    public void countLoaded() {}

    /// Frees the memory of records that are durable and seldom read. No checkpoint is being written.
    public void map(RowFiles files) {}

    /// The store of a segment, by its number.
    public RowStore storeOf(long sequence) {
        return store;
    }

    /// Whether the segment of a number takes memory once it is durable.
    public static boolean takesMemory(long sequence) {
        return sequence < RowStore.KEPT_FROM;
    }

    /// Cuts all stores: all that was appended so far belongs to this checkpoint.
    public final RowStore.Cut cut() {
        return Arrays.stream(stores)
                .map(RowStore::cut)
                .reduce(RowStore.Cut::plus)
                .orElseThrow();
    }

    /// From now on rows that are kept until before this time are forgotten.
    public void forgetBefore(long timeMs) {}

    /// The cells of a roll-up.
    public final Cells cells(int rollup) {
        return cells[rollup];
    }

    /// The amounts of forgotten rows in a roll-up. No other cells contain them.
    public final Cells forgotten(int rollup) {
        return forgotten[rollup];
    }

    /// Frees a segment of forgotten rows, and cleans a part of a segment, if too much is dead.
    public void clean() {
        for (RowStore each : stores) {
            each.clean();
        }
    }

    /// Takes over the records of a shard of another division that belong to this one.
    public final void adopt(Shard other, int shard, int shards) {
        for (int i = 0; i < stores.length; i++) {
            stores[i].adopt(other.stores[i], shard, shards);
        }
    }

    /// Numbers segments so that no file is written over that the last checkpoint of other shards names.
    public final void numberBehind(Shard[] others) {
        for (int i = 0; i < stores.length; i++) {
            int number = i;
            stores[i].numberFrom(Arrays.stream(others)
                    .mapToLong(other -> other.stores[number].sequenceNext())
                    .max()
                    .orElseThrow());
        }
    }

    /// Bytes of memory in use.
    public final long bytes() {
        return Arrays.stream(stores).mapToLong(RowStore::bytes).sum();
    }

    /// Frees all memory.
    public final void close() {
        for (RowStore each : stores) {
            each.close();
        }
    }

    /// The store that each record reads.
    public final RowStore store() {
        return store;
    }

    /// How many keys there are, deleted ones included.
    public long count() {
        return store.index.count();
    }

    /// The counts of the records of this shard by their fates.
    public abstract Counts counts();

    /// The counts of the records by their fates on arrival; other records may have changed these since.
    public Counts arrivedCounts() {
        return counts();
    }

    /// Causes for stale and conflicting records, by the names of [dev.onefold.core.Causes].
    public Map<String, Long> causes() {
        return Map.of();
    }

    /// The row of a key; empty if there is none, or if the shard keeps none.
    public Optional<Row> get(RowBatch.EncodedKey key) {
        return Optional.empty();
    }

    /// Called once per row.
    public interface Visitor {
        void row(Amounts amounts);
    }

    /// Visits the contribution of each row to a roll-up, in no order.
    public abstract void forEach(int rollup, Visitor visitor);

    /// Replaces the cells by the sums of the rows, all marked as changed.
    ///
    /// @param values of each roll-up, to which those of the rows are added
    public final void recount(Pipeline pipeline, Values[] values) {
        for (int rollup = 0; rollup < cells.length; rollup++) {
            cells[rollup] = new Cells(pipeline, rollup, values[rollup]);
            forgotten[rollup].touchAll();
        }
        fillCells(new Amounts(cells.length, Rollups.of(pipeline).inputs().size()));
    }

    /// Adds the contributions of all rows to the cells, which are empty.
    ///
    /// @param nothing the amounts of no row
    void fillCells(Amounts nothing) {
        for (int rollup = 0; rollup < cells.length; rollup++) {
            Cells each = cells[rollup];
            forEach(rollup, amounts -> each.move(nothing, amounts));
        }
    }
}
