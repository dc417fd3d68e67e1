package dev.onefold.cli.trial;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.verbs.Sides;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/// A deployment with totals, or with a function: its tables, and the totals that follow them.
final class DeployedTotals implements Deployed {
    private final Parts parts;
    private final Caller caller;
    private final Store store;
    private final TrialPipeline tried;
    private final Oracle oracle;
    private final Drain drain;
    private final SequencedMap<String, Totals> served = new LinkedHashMap<>();

    DeployedTotals(Parts parts, TrialPipeline tried, Oracle oracle) {
        this.parts = parts;
        caller = parts.caller();
        store = parts.store();
        this.tried = tried;
        this.oracle = oracle;
        drain = new Drain(parts.services(), parts.outputs(), store, this::engine);
    }

    @Override
    public Sink.Opener sink() {
        return Sink.stream(parts.services().streams(), parts.output("InputStreamName"), tried.pipeline());
    }

    /// The deployed engine; empty until the first batch has come.
    private Optional<Engine> engine() {
        return AwsEngine.isDeployed(store) ? Optional.of(AwsEngine.deployed(store)) : Optional.empty();
    }

    @Override
    public void read() {
        Optional<Engine> found = engine();
        if (found.isPresent()) {
            try (Engine engine = found.get()) {
                for (Rollup rollup : Rollups.of(tried.pipeline()).all()) {
                    served.put(rollup.name(), engine.query(Query.all(rollup.name()), Totals::of));
                }
            }
        }
    }

    @Override
    public String line(Oracle.Right right) {
        return sides(right).stream().map(DeployedTotals::inOneLine).reduce("", String::concat);
    }

    @Override
    public List<String> picture(Oracle.Right right, int room) {
        List<Sides> sides = sides(right);
        int each = Math.clamp(room, 1, GROUPS_SHOWN_MAX) / Math.max(1, sides.size());
        return sides.stream()
                .flatMap(side -> side.lines(caller.screen(), Math.max(1, each), false).stream())
                .toList();
    }

    private List<Sides> sides(Oracle.Right right) {
        List<Sides> sides = new ArrayList<>();
        boolean alone = right.totals().size() == 1;
        right.totals()
                .forEach((rollup, totals) -> sides.add(new Sides(
                        alone ? "" : rollup, served.getOrDefault(rollup, Totals.none(totals.measures())), totals)));
        return sides;
    }

    /// The grand total of both sides.
    private static String inOneLine(Sides sides) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < sides.engine().measures().size(); i++) {
            parts.add(sides.engine().measures().get(i) + " "
                    + Words.number(sides.engine().value(List.of(), i)) + " of "
                    + Words.number(sides.right().value(List.of(), i)));
        }
        return "In the totals" + (sides.rollup().isEmpty() ? "" : " of " + sides.rollup()) + ": "
                + String.join(", ", parts) + ". ";
    }

    @Override
    public boolean isDone() {
        return drain.isDone();
    }

    @Override
    public long aside() {
        return drain.aside();
    }

    @Override
    public ExitCode compare(Oracle.Right right, long put) {
        read();
        List<TableRows> tables = tables();
        List<Comparison.Count> counts = new ArrayList<>();
        tables.forEach(table -> counts.add(new Comparison.Count(
                "rows of " + table.name(), table.engine().size(), table.right().size())));
        counts.add(new Comparison.Count("rejected records", rejected(), oracle.rejected()));
        Comparison comparison = new Comparison(sides(right), counts);
        List<String> differences = new ArrayList<>(comparison.differences(DIFFERENCES_MAX));
        tables.forEach(table -> differences.addAll(table.differences(DIFFERENCES_MAX)));
        boolean isEqual = comparison.isEqual() && differences.isEmpty();
        parts.board().say("");
        comparison.lines(caller.screen(), GROUPS_SHOWN_MAX * 2).forEach(caller::printLine);
        parts.board().say("");
        if (isEqual) {
            parts.board()
                    .say("equal: all " + things(comparison, tables) + " after " + Words.count(put, "record") + ".");
        }
        differences.forEach(parts.board()::say);
        return isEqual ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    private static String things(Comparison comparison, List<TableRows> tables) {
        long rows = tables.stream().mapToLong(table -> table.right().size()).sum();
        String groups = Words.count(comparison.groups(), "group");
        return tables.isEmpty()
                ? groups
                : Words.count(rows, "row") + " of " + Words.count(tables.size(), "table")
                        + (comparison.totals().isEmpty() ? "" : ", and all " + groups);
    }

    /// The rows of the function's tables on both sides.
    private List<TableRows> tables() {
        List<TableRows> tables = new ArrayList<>();
        oracle.rows().forEach((table, right) -> {
            Set<String> rows = AwsEngine.isDeployed(store)
                    ? Set.copyOf(AwsEngine.deployed(store).scan(table))
                    : Set.of();
            tables.add(new TableRows(table, rows, Set.copyOf(right)));
        });
        return tables;
    }

    /// Different records that were rejected, but for the marks of the drain.
    private long rejected() {
        Optional<Engine> found = engine();
        if (found.isEmpty()) {
            return 0;
        }
        try (Engine engine = found.get()) {
            Set<String> hashes = RejectedRecords.of(engine.deadLetters());
            hashes.remove(Drain.MARK_HASH);
            return hashes.size();
        }
    }
}
