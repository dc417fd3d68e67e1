package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import dev.onefold.core.totals.Totals;
import dev.onefold.oracle.Possible;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/// Asks for totals and rows while records come, and knows what no answer may say, whatever is in it: no group that no
/// record names, no count below zero, above what there can be, or other than its children's; and nothing from before
/// what an earlier answer through the same engine has shown.
final class Questions {
    private final Pipeline pipeline;
    private final Possible possible;
    private final SplittableRandom random;
    private final boolean mayRefuse;
    private final Map<List<String>, BigDecimal> versionsSeen = new HashMap<>();
    private final IdentityHashMap<AwsEngine, Map<String, Map<List<String>, BigDecimal>>> countsSeen =
            new IdentityHashMap<>();

    /// @param pipeline whose roll-ups every release has
    /// @param mayRefuse whether a release may refuse what is in: then rows come and go
    Questions(Pipeline pipeline, Possible possible, SplittableRandom random, boolean mayRefuse) {
        this.mayRefuse = mayRefuse;
        this.pipeline = pipeline;
        this.possible = possible;
        this.random = random;
    }

    /// Asks for all of a roll-up.
    void query(AwsEngine engine) {
        String rollup = Rollups.of(pipeline)
                .all()
                .get(random.nextInt(Rollups.of(pipeline).all().size()))
                .name();
        Map<List<String>, BigDecimal> seen =
                countsSeen.computeIfAbsent(engine, _ -> new HashMap<>()).computeIfAbsent(rollup, _ -> new HashMap<>());
        Map<List<String>, BigDecimal> before = Map.copyOf(seen);
        check(engine.query(Query.all(rollup)), before, seen);
    }

    private void check(Answer answer, Map<List<String>, BigDecimal> before, Map<List<String>, BigDecimal> seen) {
        List<Figure> figures = Rollups.of(pipeline).named(answer.rollup()).figures();
        for (int i = 0; i < figures.size(); i++) {
            if (!(figures.get(i) instanceof Figure.Stored(Measure.Count _))) {
                continue;
            }
            Map<List<String>, BigDecimal> counts = new HashMap<>();
            Map<List<String>, BigDecimal> ofChildren = new HashMap<>();
            for (Answer.Line line : answer.lines()) {
                BigDecimal count =
                        java.util.Objects.requireNonNull(line.values().get(i));
                counts.put(line.group(), count);
                if (!line.group().isEmpty()) {
                    ofChildren.merge(line.group().subList(0, line.group().size() - 1), count, BigDecimal::add);
                }
            }
            counts.forEach((group, count) -> check(answer, group, count, ofChildren.get(group)));
            before.forEach((group, least) -> {
                BigDecimal now = counts.getOrDefault(group, BigDecimal.ZERO);
                if (!mayRefuse
                        && now.compareTo(least) < 0
                        && possible.bound(answer.rollup(), group).grows()) {
                    throw new AssertionError("Group " + group + " of " + answer.rollup() + " has " + now
                            + " rows, and had " + least + " before, of keys that never leave it");
                }
            });
            counts.forEach((group, count) -> seen.merge(group, count, BigDecimal::max));
            return; // Another count is the same.
        }
    }

    /// @param ofChildren `null` of a leaf
    private void check(
            Answer answer,
            List<String> group,
            BigDecimal count,
            @org.jspecify.annotations.Nullable BigDecimal ofChildren) {
        BigDecimal max =
                BigDecimal.valueOf(possible.bound(answer.rollup(), group).max());
        boolean isLeaf = group.size() == answer.levels().size();
        boolean isSum = isLeaf || count.compareTo(ofChildren == null ? BigDecimal.ZERO : ofChildren) == 0;
        if (count.signum() < 0 || count.compareTo(max) > 0 || !isSum) {
            throw new AssertionError("Group " + group + " of " + answer.rollup() + " has " + count
                    + " rows, of at most " + max + ", and its children have " + ofChildren + ": " + answer);
        }
    }

    /// Asks for the row of a key.
    void get(AwsEngine engine) {
        List<List<String>> keys = possible.keys();
        if (keys.isEmpty()) {
            return;
        }
        List<String> key = keys.get(random.nextInt(keys.size()));
        BigDecimal before = versionsSeen.get(key);
        Optional<Row> row = engine.get(key);
        if (row.isEmpty()) {
            if (before != null && !mayRefuse) {
                throw new AssertionError("The row of " + key + " is gone; it had version " + before);
            }
            return;
        }
        BigDecimal version = version(row.get());
        boolean isPossible = possible.versions(key).contains(version);
        if (!isPossible || !mayRefuse && before != null && version.compareTo(before) < 0) {
            throw new AssertionError("The row of " + key + " has version " + version + ", had " + before
                    + " before, and may have " + possible.versions(key));
        }
        versionsSeen.merge(key, version, BigDecimal::max);
    }

    /// A number; of a time its seconds; zero where there are none.
    static BigDecimal version(Row row) {
        int decimals = row.version().kind() == Version.Kind.TIME ? 9 : 0;
        return new BigDecimal(row.version().number(), decimals);
    }

    /// In one cut nothing is retracted that was not added, and no key is there twice.
    void lookAt(Store store) {
        Definition definition = new Definitions(store).load();
        int rollup = random.nextInt(
                Rollups.of(definition.servedView().pipeline()).all().size());
        Totals totals = new TotalsReads(store, definition)
                .read(List.of(TotalsReads.Part.of(definition.servedView(), rollup, Tuple.of(List.of()))))
                .totals()
                .getFirst();
        long rows = 0;
        for (Aggregate leaf : totals.leaves().values()) {
            if (leaf.rows() < 0) {
                throw new AssertionError("A group has " + leaf.rows() + " rows");
            }
            rows += leaf.rows();
        }
        long keys = store
                .retried(() -> store.client()
                        .scan(request ->
                                request.tableName(store.tables().rows()).consistentRead(true)))
                .items()
                .stream()
                .filter(RowItem::isRow)
                .count();
        if (rows > keys) {
            throw new AssertionError("There are " + rows + " rows of " + keys + " keys");
        }
    }
}
