package dev.onefold.embedded.fold;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.Head;
import dev.onefold.core.process.KeyAudit;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.rows.Keys;
import dev.onefold.embedded.rows.Rows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Compares the totals of states.
public final class Comparison {
    /// The comparisons that are not available here, with the reason.
    public static final Map<Capability, String> MISSING =
            Map.of(Capability.SAMPLE, "A sample of groups is for totals on AWS; here all groups are recomputed.");

    private Comparison() {}

    /// The totals that are served against what the rows come to.
    public static Verification ofRows(State state, Folding folding, Workers workers) {
        List<Verification.Difference> differences = new ArrayList<>();
        long[] groups = new long[1];
        state.recompute(
                workers,
                (rollup, recomputed) ->
                        groups[0] += Verification.compare(state.served(rollup), recomputed, differences));
        String each = state.hasFunction ? " key" : " row";
        String truth = state.rows()
                + each
                + (state.rows() == 1 ? "" : "s")
                + (state.hasForgotten() ? " and what forgotten rows came to" : "");
        Verification ofTotals = new Verification(truth, groups[0], differences);
        return state.hasFunction && folding.canFold() ? ofKeys(ofTotals, state, folding, workers) : ofTotals;
    }

    /// The keys, too, against what their kept events come to.
    private static Verification ofKeys(Verification ofTotals, State state, Folding folding, Workers workers) {
        List<List<KeyAudit.Difference>> found = new ArrayList<>();
        for (int shard = 0; shard < state.shards.length; shard++) {
            found.add(new ArrayList<>());
        }
        workers.run(state.shards.length, shard -> {
            Keys keys = state.shards[shard].keys();
            folding.requireFunction()
                    .forEach(
                            shard,
                            keys.keys(),
                            (function, key) -> found.get(shard).addAll(keys.audit(function, key)));
        });
        return ofTotals.with(state.rows(), found.stream().flatMap(List::stream).toList());
    }

    /// The totals that are served against those of another state of the same definition.
    public static Verification of(State served, State recomputed, String truth) {
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int rollup = 0; rollup < served.groups.length; rollup++) {
            groups += Verification.compare(served.served(rollup), recomputed.served(rollup), differences);
        }
        Verification ofTotals = new Verification(truth, groups, differences);
        if (!served.hasFunction) {
            return ofTotals;
        }
        List<KeyAudit.Difference> keys = contexts(served, recomputed);
        keys.addAll(rows(served, recomputed));
        return ofTotals.with(served.rows(), keys);
    }

    /// The keys whose contexts differ.
    private static List<KeyAudit.Difference> contexts(State served, State recomputed) {
        List<KeyAudit.Difference> differences = new ArrayList<>();
        for (Rows shard : served.shards) {
            shard.keys().forEachKey(key -> compare(served, recomputed, key, differences));
        }
        for (Rows shard : recomputed.shards) {
            shard.keys().forEachKey(key -> {
                if (served.shardOf(key).keys().head(key) == null) {
                    compare(served, recomputed, key, differences);
                }
            });
        }
        return differences;
    }

    private static void compare(State served, State recomputed, byte[] key, List<KeyAudit.Difference> differences) {
        Head one = served.shardOf(key).keys().head(key);
        Head other = recomputed.shardOf(key).keys().head(key);
        byte[] context = one == null ? null : one.context();
        byte[] again = other == null ? null : other.context();
        if (!Arrays.equals(context, again)) {
            differences.add(
                    new KeyAudit.Difference(Key.parts(served.pipeline, key), "context", json(context), json(again)));
        }
    }

    /// The rows of tables that differ.
    private static List<KeyAudit.Difference> rows(State served, State recomputed) {
        List<KeyAudit.Difference> differences = new ArrayList<>();
        Processing processing = (Processing) served.pipeline.fold();
        for (int table = 0; table < processing.tables().size(); table++) {
            String name = processing.tables().get(table).name();
            for (Rows shard : served.shards) {
                shard.keys().forEachRow(table, null, row -> {
                    byte[] other = recomputed.shardOf(row.owner()).keys().content(row.owner(), row.id());
                    if (!Arrays.equals(row.content(), other)) {
                        differences.add(difference(served, name, row, json(row.content()), json(other)));
                    }
                });
            }
            for (Rows shard : recomputed.shards) {
                shard.keys().forEachRow(table, null, row -> {
                    if (served.shardOf(row.owner()).keys().content(row.owner(), row.id()) == null) {
                        differences.add(difference(served, name, row, "", json(row.content())));
                    }
                });
            }
        }
        return differences;
    }

    private static KeyAudit.Difference difference(
            State state, String table, Keys.TableRow row, String served, String recomputed) {
        return new KeyAudit.Difference(
                Key.parts(state.pipeline, row.owner()),
                table + " " + String.join(", ", row.id().key().parts()),
                served,
                recomputed);
    }

    private static String json(byte @Nullable [] content) {
        return content == null ? "" : Value.read(content).toJson();
    }

    /// Requires that a pipeline has the rows that a comparison wants.
    public static void requireRows(Pipeline pipeline, Truth.Rows rows) {
        if (rows.oneIn() > 1) {
            throw new IllegalArgumentException(MISSING.get(Capability.SAMPLE));
        }
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " keeps no rows to recompute from: its records count by their place. Verify from its sources"
                    + " (--from-sources).");
        }
    }
}
