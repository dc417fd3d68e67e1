package dev.onefold.embedded.fold;

import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.totals.Leaves;
import dev.onefold.embedded.framing.Sources;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.Shard;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Everything that is folded, in memory. Guarded by the engine's lock; inside a round each shard by its thread.
public final class State {
    private static final int VALUE_PARTS_MAX = 32;

    /// Share of the heap that groups and their cells may take; rounds, checkpoints and answers need the rest.
    private static final int HEAP_PERCENT_MAX = 60;

    private static final int ENDED_PERCENT_MIN = 25;

    public final Pipeline pipeline;
    private final Rollups rollups;
    public final Groups[] groups;
    /// The values of each roll-up.
    public final Values[] values;

    public final Shard[] shards;
    private final Shard.Maker maker;
    public final Memory memory;
    public final Sources sources = new Sources();
    /// Whether the source names each record.
    public final boolean byMessage;
    /// Whether ids are forgotten, and what their rows came to stays.
    public final boolean forgets;
    /// When groups and their rows end, if they do.
    public final Optional<Keep> keep;
    /// Counts from before the state was opened, and of records that no shard sees.
    private Counts counts = new Counts(0, 0, 0, 0, 0);
    private Counts recounted = new Counts(0, 0, 0, 0, 0); // Of these, since the state was opened.

    private volatile Causes causes = Causes.NONE; // Without those that shards count.

    private long seenMs = Keep.NOTHING_SEEN;
    private final Tuple[] endedBefore; // The first group that was shown when ended groups were last looked for.

    State(Pipeline pipeline, int shardCount, Memory memory, Shard.Maker maker) {
        this.maker = maker;
        this.pipeline = pipeline;
        this.memory = memory;
        rollups = Rollups.of(pipeline);
        groups = new Groups[rollups.all().size()];
        Arrays.setAll(groups, _ -> new Groups());
        shards = new Shard[shardCount];
        values = new Values[groups.length];
        Arrays.setAll(values, this::newValues);
        Arrays.setAll(shards, _ -> newShard());
        byMessage = pipeline.input().identity() instanceof Identity.ByMessage;
        forgets = Horizon.ofForgetting(pipeline).isPresent();
        keep = Keep.of(pipeline);
        endedBefore = new Tuple[groups.length];
        Arrays.fill(endedBefore, Tuple.of(List.of()));
    }

    /// An empty shard with the same groups and values.
    public Shard newShard() {
        return maker.shard(pipeline, groups, values, memory, sources::name);
    }

    private Values newValues(int rollup) {
        int parts = shards.length == 1 ? 1 : Math.min(2 * shards.length, VALUE_PARTS_MAX);
        return new Values(rollups.all().get(rollup).measures(), parts, memory::change);
    }

    /// The cells, `[shard][roll-up]`. If ids are forgotten, the cells of forgotten rows follow, in the order
    /// of the shards again.
    public Cells[][] cells() {
        return cellsOf(shards, groups.length, forgets);
    }

    /// The same of other shards.
    public static Cells[][] cellsOf(Shard[] shards, int rollups, boolean forgets) {
        Cells[][] cells = new Cells[forgets ? 2 * shards.length : shards.length][rollups];
        for (int part = 0; part < cells.length; part++) {
            Shard shard = shards[part % shards.length];
            boolean isForgotten = part >= shards.length;
            Arrays.setAll(cells[part], rollup -> isForgotten ? shard.forgotten(rollup) : shard.cells(rollup));
        }
        return cells;
    }

    /// Whether the totals hold amounts of forgotten rows.
    public boolean hasForgotten() {
        return forgets
                && Arrays.stream(shards).anyMatch(shard -> !shard.forgotten(0).isEmpty());
    }

    /// The latest time seen, in milliseconds since 1970: the greatest of all accepted records' times. With a
    /// horizon each is at most its arrival, so neither a wrong clock nor a wrong time alone makes ids forgotten.
    public long seenMs() {
        return seenMs;
    }

    /// A record came that is certain to be of this time or later.
    public void saw(long timeMs) {
        seenMs = Math.max(seenMs, timeMs);
        long rowsFromMs = keep.map(each -> each.rowsFromMs(seenMs)).orElse(seenMs);
        for (Shard shard : shards) {
            shard.forgetBefore(rowsFromMs);
        }
    }

    /// Gives up the names of groups that have ended and hold nothing any more, as soon as they are a quarter of
    /// all. Between two rounds: nobody holds their numbers then.
    void endGroups() {
        keep.ifPresent(each -> {
            for (int rollup = 0; rollup < groups.length; rollup++) {
                Tuple first = each.first(rollup, seenMs);
                if (!first.equals(endedBefore[rollup])) {
                    endedBefore[rollup] = first;
                    endGroups(rollup);
                }
            }
        });
    }

    private void endGroups(int rollup) {
        Leaves leaves = served(rollup);
        int[] order = groups[rollup].order();
        BitSet ended = new BitSet();
        for (int i = leaves.shownFrom(order) - 1; i >= 0; i--) {
            ended.set(order[i], leaves.isNothing(order[i]));
        }
        if (!ended.isEmpty() && 100L * ended.cardinality() >= (long) ENDED_PERCENT_MIN * order.length) {
            groups[rollup] = groups[rollup].without(ended);
            for (Shard shard : shards) { // The parts of a group may be on other shards than its rows were.
                shard.cells(rollup).empty(ended);
            }
        }
    }

    /// Counts records that no shard sees.
    public void count(Counts more) {
        counts = counts.plus(more);
    }

    /// Notes why records are silent.
    ///
    /// @return how many they are
    long count(Map<Silence, long[]> more) {
        long all = 0;
        for (Map.Entry<Silence, long[]> each : more.entrySet()) {
            causes = causes.plus(Causes.of(each.getKey(), each.getValue()[0]));
            all += each.getValue()[0];
        }
        return all;
    }

    /// Adds the counts of a state before this one.
    public void countBefore(Counts before, Map<String, Long> ofCauses) {
        count(before);
        causes = causes.plus(new Causes(ofCauses));
    }

    /// Why records were stale, conflicting or silent. Any thread; while records are folded, about.
    public Map<String, Long> causes() {
        Map<String, Long> all = new HashMap<>(causes.counts());
        for (Shard shard : shards) {
            shard.causes().forEach((name, count) -> all.merge(name, count, Long::sum));
        }
        return all;
    }

    /// Corrects the count of a record, because another record has changed its fate.
    void recount(Counts difference) {
        count(difference);
        recounted = recounted.plus(difference);
    }

    /// The counts of records by their fates on arrival; other records may have changed these since. Only the
    /// difference of two such counts from one life of the state is meaningful.
    public Counts arrivedCounts() {
        Counts all = counts.minus(recounted);
        for (Shard shard : shards) {
            all = all.plus(shard.arrivedCounts());
        }
        return all;
    }

    /// The counts of all records by their fates.
    public Counts allCounts() {
        Counts all = counts;
        for (Shard shard : shards) {
            all = all.plus(shard.counts());
        }
        return all;
    }

    /// The row of a key; empty if a function folds it.
    public Optional<Row> row(byte[] key) {
        if (key.length > 2 * Limits.KEY_BYTES_MAX) {
            return Optional.empty();
        }
        RowBatch.EncodedKey encoded = new RowBatch.EncodedKey().set(key, 0, key.length);
        return shards[encoded.shard(shards.length)].get(encoded);
    }

    public long rows() {
        return Arrays.stream(shards).mapToLong(Shard::count).sum();
    }

    /// The leaves of a roll-up, as they are served.
    public Leaves served(int rollup) {
        return served(rollup, seenMs);
    }

    /// The same, as if this were the latest time that is certain to have come.
    Leaves served(int rollup, long latestMs) {
        return leaves(rollup, cells(), values[rollup], latestMs);
    }

    private Leaves leaves(int rollup, Cells[][] cells, Values of, long latestMs) {
        Cells[] shardCells = new Cells[cells.length];
        Arrays.setAll(shardCells, shard -> cells[shard][rollup]);
        return new Leaves(rollups.all().get(rollup), groups[rollup], shardCells, of, first(rollup, latestMs));
    }

    private Tuple first(int rollup, long latestMs) {
        return keep.map(each -> each.first(rollup, latestMs)).orElse(Tuple.of(List.of()));
    }

    /// The first group of each roll-up that is shown.
    public List<Tuple> firstShown() {
        return IntStream.range(0, groups.length)
                .mapToObj(rollup -> first(rollup, seenMs))
                .toList();
    }

    /// Whether totals may have changed since [#takeMoved] was called for all roll-ups.
    public boolean hasMoved() {
        return Arrays.stream(cells()).flatMap(Arrays::stream).anyMatch(Cells::hasMoved);
    }

    /// The leaves of a roll-up that may have changed since the last call; `null` if any may have.
    public @Nullable BitSet takeMoved(int rollup) {
        BitSet all = new BitSet();
        boolean isKnown = true;
        for (Cells[] part : cells()) {
            BitSet moved = part[rollup].takeMoved();
            isKnown &= moved != null;
            all.or(moved == null ? all : moved);
        }
        return isKnown ? all : null;
    }

    /// Receives leaves; they are valid during the call.
    public interface Visitor {
        void leaves(int rollup, Leaves leaves);
    }

    /// Visits the leaves of each roll-up, recomputed from the rows.
    ///
    /// @throws EngineException if there is not enough memory for another copy of the values
    public void recompute(Workers workers, Visitor visitor) {
        for (int rollup = 0; rollup < groups.length; rollup++) {
            int each = rollup;
            requireMemoryForCopy(rollup, 1);
            try (Values fresh = newValues(rollup)) {
                Cells[][] cells = new Cells[shards.length][groups.length];
                workers.run(shards.length, shard -> {
                    Cells some = new Cells(pipeline, each, fresh);
                    Amounts nothing =
                            new Amounts(groups.length, rollups.inputs().size());
                    shards[shard].forEach(each, amounts -> some.move(nothing, amounts));
                    some.addAll(shards[shard].forgotten(each), groups[each].size());
                    cells[shard][each] = some;
                });
                visitor.leaves(rollup, leaves(rollup, cells, fresh, seenMs));
            }
        }
    }

    /// Replaces all cells and values by those of the rows. Of the values only those that differ are noted as
    /// changed.
    public void recount(Workers workers) {
        requireMemoryForCopy(0, groups.length);
        Values[] fresh = new Values[groups.length];
        Arrays.setAll(fresh, this::newValues);
        workers.run(shards.length, shard -> shards[shard].recount(pipeline, fresh));
        for (int rollup = 0; rollup < groups.length; rollup++) {
            fresh[rollup].replaces(values[rollup]);
            values[rollup].close();
            values[rollup] = fresh[rollup];
        }
    }

    private void requireMemoryForCopy(int from, int count) {
        long needed = 0;
        for (int rollup = from; rollup < from + count; rollup++) {
            needed += values[rollup].bytes();
        }
        if (!memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "There is not enough memory to recompute the values of min, max and distinct beside those that are"
                            + " served: they take " + needed + " bytes, " + memory.used() + " of " + memory.bytesMax()
                            + " bytes are in use. Allow more (--state-memory). The totals are as they were.");
        }
    }

    /// Requires memory to be filled beside the state of another view.
    void requireMemoryBeside(long needed) {
        if (!memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "There is not enough memory to fill the new view beside the old one: " + memory.bytesMax()
                            + " bytes are allowed for each. Allow more (--state-memory); the old view is as it was.");
        }
    }

    /// Greatest number of bytes that the values of some records may need in addition.
    ///
    /// @param bytes of all their texts, at most
    public long valueBytesFor(long records, long bytes) {
        long needed = 0;
        for (Values each : values) {
            needed += each.bytesFor(records, bytes);
        }
        return needed;
    }

    /// For a message: how much of the memory is for values; empty if no measure is made of them.
    public String valuesText() {
        long bytes = Arrays.stream(values).mapToLong(Values::bytes).sum();
        return bytes == 0 ? "" : " (" + bytes + " of them for the values of min, max and distinct)";
    }

    /// Refuses groups for which the heap is too small.
    ///
    /// @param groupsMore greatest number of new groups, in each roll-up
    /// @param bytes of the names of one roll-up's groups, at most
    public void requireHeap(long groupsMore, long bytes) {
        long needed = 0;
        long count = 0;
        for (int rollup = 0; rollup < groups.length; rollup++) {
            needed += groups[rollup].bytesWith(groupsMore, bytes);
            for (Shard shard : shards) {
                long bytesOfCells = shard.cells(rollup).bytesOf(groups[rollup].size() + groupsMore);
                needed += forgets ? 2 * bytesOfCells : bytesOfCells;
            }
            count += groups[rollup].size();
        }
        long bytesMax = Runtime.getRuntime().maxMemory() / 100 * HEAP_PERCENT_MAX;
        if (needed > bytesMax) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "The Java heap is too small for more groups: there are " + count
                            + ", with those that come they need "
                            + needed + " bytes, " + bytesMax + " of "
                            + Runtime.getRuntime().maxMemory()
                            + " are allowed. What was folded is safe. Allow more (ONEFOLD_JAVA_OPTS=-Xmx2g), and go"
                            + " on.");
        }
    }

    /// How many values have changed since the last checkpoint.
    public long changedValues() {
        long changed = 0;
        for (Values each : values) {
            changed += each.changedCount();
        }
        return changed;
    }

    public void close() {
        for (Shard shard : shards) {
            shard.close();
        }
        for (Values each : values) {
            each.close();
        }
    }
}
