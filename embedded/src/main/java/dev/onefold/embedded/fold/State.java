package dev.onefold.embedded.fold;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Totals;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.embedded.rows.Rows;
import java.util.Arrays;
import java.util.List;

/// Everything that is folded, in memory. Guarded by the engine's lock; inside a round each shard by its thread.
public final class State {
    public final Pipeline pipeline;
    public final Groups[] groups;
    public final Rows[] shards;
    public final Memory memory;
    public final Sources sources = new Sources();
    public final boolean byPlace;
    /// Counts of earlier lives, and of records that no shard sees.
    public Counts counts = new Counts(0, 0, 0, 0, 0);

    public long watermarkMs = Long.MIN_VALUE;

    public State(Pipeline pipeline, int shardCount, Memory memory) {
        this.pipeline = pipeline;
        this.memory = memory;
        groups = new Groups[pipeline.rollups().size()];
        Arrays.setAll(groups, _ -> new Groups());
        shards = new Rows[shardCount];
        Arrays.setAll(shards, _ -> new Rows(pipeline, groups, memory, sources::name));
        byPlace = pipeline.identity() instanceof Identity.ByPlace;
    }

    /// The cells, `[shard][roll-up]`.
    public Cells[][] cells() {
        Cells[][] cells = new Cells[shards.length][groups.length];
        for (int shard = 0; shard < shards.length; shard++) {
            for (int rollup = 0; rollup < groups.length; rollup++) {
                cells[shard][rollup] = shards[shard].cells(rollup);
            }
        }
        return cells;
    }

    /// What became of all records.
    public Counts allCounts() {
        Counts all = counts;
        for (Rows rows : shards) {
            all = all.plus(rows.counts());
        }
        return all;
    }

    public long rows() {
        return Arrays.stream(shards).mapToLong(Rows::count).sum();
    }

    /// The leaves of a roll-up under a group, as they are served.
    public Totals served(int rollup, Tuple under) {
        return totals(rollup, under, cells());
    }

    /// The leaves of a roll-up, recomputed from the rows.
    public Totals recomputed(int rollup, Workers workers) {
        Cells[][] fresh = new Cells[shards.length][groups.length];
        workers.run(shards.length, shard -> {
            Cells cells = new Cells(pipeline, rollup);
            dev.onefold.core.map.Amounts nothing = new dev.onefold.core.map.Amounts(
                    groups.length, pipeline.inputs().size());
            shards[shard].forEach(amounts -> cells.move(nothing, amounts));
            fresh[shard][rollup] = cells;
        });
        return totals(rollup, Tuple.of(List.of()), fresh);
    }

    private Totals totals(int rollup, Tuple under, Cells[][] cells) {
        Totals totals = new Totals(pipeline.rollups().get(rollup));
        List<Tuple> tuples = groups[rollup].from(0);
        for (int leaf = 0; leaf < tuples.size(); leaf++) {
            if (tuples.get(leaf).startsWith(under)) {
                Aggregate aggregate = cells[0][rollup].aggregate();
                for (Cells[] shard : cells) {
                    shard[rollup].addTo(aggregate, leaf);
                }
                totals.add(tuples.get(leaf), aggregate);
            }
        }
        return totals;
    }

    public void close() {
        for (Rows rows : shards) {
            rows.store().close();
        }
    }
}
