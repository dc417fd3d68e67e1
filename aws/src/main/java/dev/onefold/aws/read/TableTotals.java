package dev.onefold.aws.read;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.FeedDeltas;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.totals.Totals;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/// Compares the roll-ups of a function's tables with the rows of these tables, while events go on. The rows are no
/// cut, so a group is judged only if its totals were the same before its rows were read and after that; a group that
/// differs, or has moved, is looked at again.
public final class TableTotals {
    private static final int ROUNDS_MAX = 4;

    private final Store store;
    private final Definition definition;
    private final List<OutputTable> tables;
    private final Feeds feeds;
    private final Definition.View view;
    private Set<Leaf> moved = Set.of();

    /// A leaf group of a roll-up.
    private record Leaf(String rollup, List<String> group) {}

    private TableTotals(Store store, Definition definition, List<OutputTable> tables, Feeds feeds, int oneIn) {
        this.store = store;
        this.definition = definition;
        this.tables = tables;
        this.feeds = feeds;
        view = new Definition.View(definition.served(), definition.servedView().pipeline(), oneIn, "", 0);
    }

    /// The differences.
    ///
    /// @param oneIn compares one leaf group in so many
    public static Verification compare(
            Store store, Definition definition, List<OutputTable> tables, Feeds feeds, int oneIn) {
        return new TableTotals(store, definition, tables, feeds, oneIn).compare();
    }

    private Verification compare() {
        Verification verification = round();
        Set<Leaf> moving = moved;
        for (int rounds = 1; rounds < ROUNDS_MAX && !(verification.isEqual() && moving.isEmpty()); rounds++) {
            Set<Leaf> before = leaves(verification);
            before.addAll(moving);
            Verification next = round();
            verification = new Verification(
                    next.truth(),
                    next.groups(),
                    next.differences().stream()
                            .filter(each -> before.contains(leaf(each)))
                            .toList());
            moving = new HashSet<>(moved);
            moving.retainAll(before);
        }
        Set<Leaf> unknown = moving;
        return new Verification(
                verification.truth()
                        + (unknown.isEmpty()
                                ? ""
                                : "; " + unknown.size() + " groups moved each time and were not compared"),
                verification.groups() - unknown.size(),
                verification.differences().stream()
                        .filter(each -> !unknown.contains(leaf(each)))
                        .toList());
    }

    private static Set<Leaf> leaves(Verification verification) {
        Set<Leaf> leaves = new HashSet<>();
        verification.differences().forEach(each -> leaves.add(leaf(each)));
        return leaves;
    }

    private static Leaf leaf(Verification.Difference difference) {
        return new Leaf(difference.rollup(), difference.group());
    }

    /// One look at all totals, all rows, and all totals again.
    private Verification round() {
        List<Totals> before = served();
        List<Totals> recomputed = new ArrayList<>();
        for (Rollup rollup : rollups()) {
            recomputed.add(new Totals(rollup));
        }
        long rows = 0;
        for (int table = 0; table < tables.size(); table++) {
            rows += feeds.isFed(table) ? add(table, recomputed) : 0;
        }
        store.threads().pause(Store.IN_FLIGHT_MAX); // What was read is there with its delta then.
        List<Totals> after = served();
        moved = leaves(Verification.of(before, after, ""));
        return Verification.of(after, recomputed, rows + " rows of tables");
    }

    private List<Rollup> rollups() {
        return Rollups.of(view.pipeline()).all();
    }

    private List<Totals> served() {
        store.threads().each(definition.lanes(), lane -> Reduce.lane(store, lane));
        List<TotalsReads.Part> parts = new ArrayList<>();
        for (int rollup = 0; rollup < rollups().size(); rollup++) {
            parts.add(new TotalsReads.Part(definition.served(), rollup, Tuple.of(List.of()), view));
        }
        return new TotalsReads(store, definition).read(parts, Cut.NEXT).totals();
    }

    private long add(int table, List<Totals> to) {
        AtomicLong rows = new AtomicLong();
        Queries.scan(store, store.tables().output(tables.get(table).name()), page -> {
            page.forEach(item -> add(FeedDeltas.of(feeds, table, OutputTable.content(item)), to));
            rows.addAndGet(page.size());
        });
        return rows.get();
    }

    private void add(Delta delta, List<Totals> to) {
        view.of(delta).cells().forEach((cell, sums) -> {
            Totals totals = to.get(cell.rollup());
            Aggregate aggregate = totals.empty();
            aggregate.add(sums);
            totals.add(cell.leaf(), aggregate);
        });
        view.of(delta).values().forEach((value, count) -> {
            Totals totals = to.get(value.cell().rollup());
            Aggregate aggregate = totals.empty();
            aggregate.add(value.measure(), value.amount(), count);
            totals.add(value.cell().leaf(), aggregate);
        });
    }
}
