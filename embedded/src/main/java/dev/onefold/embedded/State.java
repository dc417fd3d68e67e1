package dev.onefold.embedded;

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
final class State {
    final Pipeline pipeline;
    final Groups[] groups;
    final Rows[] shards;
    final Memory memory;
    final Sources sources = new Sources();
    final boolean byPlace;
    /// Counts of earlier lives, and of records that no shard sees.
    Counts counts = new Counts(0, 0, 0, 0, 0);

    long watermarkMs = Long.MIN_VALUE;

    State(Pipeline pipeline, int shardCount, Memory memory) {
        this.pipeline = pipeline;
        this.memory = memory;
        groups = new Groups[pipeline.rollups().size()];
        Arrays.setAll(groups, _ -> new Groups());
        shards = new Rows[shardCount];
        Arrays.setAll(shards, _ -> new Rows(pipeline, groups, memory));
        byPlace = pipeline.identity() instanceof Identity.ByPlace;
    }

    /// The cells, `[shard][roll-up]`.
    Cells[][] cells() {
        Cells[][] cells = new Cells[shards.length][groups.length];
        for (int shard = 0; shard < shards.length; shard++) {
            for (int rollup = 0; rollup < groups.length; rollup++) {
                cells[shard][rollup] = shards[shard].cells(rollup);
            }
        }
        return cells;
    }

    /// What became of all records.
    Counts allCounts() {
        Counts all = counts;
        for (Rows rows : shards) {
            all = all.plus(rows.counts());
        }
        return all;
    }

    long rows() {
        return Arrays.stream(shards).mapToLong(Rows::count).sum();
    }

    /// The leaves of a roll-up under a group, as they are served.
    Totals served(int rollup, Tuple under) {
        return totals(rollup, under, cells());
    }

    /// The leaves of a roll-up, recomputed from the rows.
    Totals recomputed(int rollup, Workers workers) {
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

    void close() {
        for (Rows rows : shards) {
            rows.store().close();
        }
    }
}
