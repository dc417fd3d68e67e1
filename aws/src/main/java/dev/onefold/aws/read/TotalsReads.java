package dev.onefold.aws.read;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Filling;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Totals;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// Reads totals as of one cut, whatever their size: the stripes of all lanes, added up.
public final class TotalsReads {
    private static final int ATTEMPTS_MAX = 20;

    /// So often a reader is overtaken before it holds an epoch.
    private static final int OVERTAKEN_MAX = 2;

    private final Store store;
    private final Definition definition;

    /// A roll-up of a view, and the group whose leaves are read.
    ///
    /// @param of only leaves that this view has: it may be one of an audit
    public record Part(int view, int rollup, Tuple under, Definition.View of) {
        /// All leaves of a view under a group.
        public static Part of(Definition.View view, int rollup, Tuple under) {
            return new Part(view.number(), rollup, under, view);
        }

        private boolean has(Tuple leaf) {
            return leaf.startsWith(under) && of.has(new Delta.Cell(rollup, leaf));
        }
    }

    /// What was read, in the order of the parts.
    ///
    /// @param at all that was written before is in it
    /// @param epoch what is read later, of this epoch or a later one, has all that is in this
    public record Reading(List<Totals> totals, Instant at, long epoch) {
        public Reading {
            totals = List.copyOf(totals);
        }
    }

    /// An item has changed twice since the cut.
    private static final class Overtaken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /// The least epoch that will do then.
        private final long least;

        Overtaken(long least) {
            this.least = least;
        }
    }

    public TotalsReads(Store store, Definition definition) {
        this.store = store;
        this.definition = definition;
    }

    /// Compares the served view with another one of the same pipeline, in one cut. If the definition is another by
    /// then, the view may have been taken away before the cut, and lack what was written since.
    ///
    /// @param view all of whose rows are filled, and their deltas added
    /// @param rows how many these are
    /// @return fails with [Filling.Overtaken] if somebody has changed the definition
    public static CompletableFuture<Verification> compare(
            Store store, Definition definition, Definition.View view, long rows) {
        List<Part> parts = new ArrayList<>();
        int rollups = Rollups.of(definition.servedView().pipeline()).all().size();
        for (int number : List.of(definition.served(), view.number())) {
            for (int rollup = 0; rollup < rollups; rollup++) {
                parts.add(new Part(number, rollup, Tuple.of(List.of()), view));
            }
        }
        String truth = rows + " rows" + (view.oneIn() == 1 ? "" : ", for one leaf group in " + view.oneIn());
        return new TotalsReads(store, definition)
                .read(parts, Cut.NEXT)
                .thenCompose(reading -> new Definitions(store).load().thenApply(now -> {
                    if (!now.equals(definition)) {
                        throw new Filling.Overtaken(view.number());
                    }
                    return Verification.of(
                            reading.totals().subList(0, rollups),
                            reading.totals().subList(rollups, 2 * rollups),
                            truth);
                }));
    }

    /// Reads all parts as of the same instant, which others may have chosen up to a second ago.
    public CompletableFuture<Reading> read(List<Part> parts) {
        return read(parts, 0);
    }

    /// The same, and nothing from before an epoch.
    ///
    /// @param least an epoch that was read, or was open
    public CompletableFuture<Reading> read(List<Part> parts, long least) {
        return read(parts, least, 1);
    }

    /// The epoch that is open; 0 where nothing was ever added.
    public CompletableFuture<Long> open() {
        return Cut.headers(store, definition)
                .thenApply(headers -> headers.size() < definition.lanes() ? 0 : Cut.epoch(headers));
    }

    private CompletableFuture<Reading> read(List<Part> parts, long least, int attempt) {
        Instant now = store.clock().instant();
        return Lag.oldest(store, definition.lanes(), now)
                .thenCompose(at -> attempt > OVERTAKEN_MAX
                        ? held(parts, at, least)
                        : at.equals(now) && attempt == 1 ? still(parts, at, least) : closed(parts, at, least))
                .exceptionallyCompose(failure -> {
                    Throwable cause = Futures.cause(failure);
                    if (!(cause instanceof Overtaken overtaken)) {
                        return CompletableFuture.failedFuture(cause);
                    }
                    if (attempt >= ATTEMPTS_MAX) {
                        return CompletableFuture.failedFuture(
                                new IllegalStateException(
                                        "The totals have changed " + ATTEMPTS_MAX
                                                + " times while this answer was read, each time before it was whole. Ask again, or for less."));
                    }
                    long enough = least == Cut.NEXT ? least : Math.max(least, overtaken.least);
                    return store.backOff(attempt).thenCompose(_ -> read(parts, enough, attempt + 1));
                });
    }

    /// Where nothing waits to be added, probably nothing is while this is read: then no epoch need be closed, and
    /// nothing be written. Each commit moves a header, so equal headers before and after are one cut, if no commit
    /// is under way then.
    private CompletableFuture<Reading> still(List<Part> parts, Instant at, long least) {
        return Cut.headers(store, definition)
                .thenCompose(before -> before.size() < definition.lanes()
                        ? closed(parts, at, least)
                        : Cut.settle(store, before)
                                .thenCompose(_ -> read(parts, new Cut(Cut.NOW, at), Cut.epoch(before)))
                                .thenCompose(reading -> Cut.quietHeaders(store, definition)
                                        .thenCompose(after -> isSame(before, after)
                                                ? CompletableFuture.completedFuture(reading)
                                                : closed(parts, at, least))));
    }

    private static boolean isSame(List<Header> before, List<Header> after) {
        return before.stream()
                .map(Header::commits)
                .toList()
                .equals(after.stream().map(Header::commits).toList());
    }

    private CompletableFuture<Reading> closed(List<Part> parts, Instant at, long least) {
        return Cut.take(store, definition, at, least).thenCompose(cut -> read(parts, cut, cut.epoch()));
    }

    /// For an answer that takes long to read.
    private CompletableFuture<Reading> held(List<Part> parts, Instant at, long least) {
        return HeldCut.take(store, definition, at, least).thenCompose(held -> {
            CompletableFuture<Reading> reading =
                    read(parts, held.cut(), held.cut().epoch());
            held.renewUntil(reading, store, definition);
            return reading.exceptionallyCompose(
                    failure -> CompletableFuture.failedFuture(failed(Futures.cause(failure), held)));
        });
    }

    /// A reader that was overtaken in spite of a hold does not join it again: some of its copies are gone.
    private Throwable failed(Throwable cause, HeldCut held) {
        if (!(cause instanceof Overtaken)) {
            return cause;
        }
        return held.isOver(store)
                ? new IllegalStateException("This answer took longer to read than " + HeldCut.HELD_MAX.toSeconds()
                        + " s, and the totals do not keep their values for longer while they change."
                        + " Ask for less: for a group, or one level.")
                : new Overtaken(held.cut().epoch() + 1);
    }

    private CompletableFuture<Reading> read(List<Part> parts, Cut cut, long epoch) {
        List<CompletableFuture<Totals>> each =
                parts.stream().map(part -> read(part, cut)).toList();
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new))
                .thenApply(_ ->
                        new Reading(each.stream().map(CompletableFuture::join).toList(), cut.covers(), epoch));
    }

    private CompletableFuture<Totals> read(Part part, Cut cut) {
        Rollup rollup =
                Rollups.of(definition.view(part.view()).pipeline()).all().get(part.rollup());
        int summed = Stored.summed(definition.view(part.view()).pipeline(), part.rollup());
        boolean valued = rollup.measures().size() > summed;
        Totals totals = new Totals(rollup);
        List<CompletableFuture<Void>> stripes = new ArrayList<>();
        for (int lane = 0; lane < definition.lanes(); lane++) {
            String partition = TotalsKey.partition(part.view(), lane);
            stripes.add(query(
                    partition,
                    TotalsKey.leavesUnder(part.rollup(), part.under()),
                    item -> addLeaf(totals, part, item, Stored.sums(item, summed, cut.epoch())),
                    null));
            if (valued) {
                stripes.add(query(
                        partition,
                        TotalsKey.valuesUnder(part.rollup(), part.under()),
                        item -> addValue(totals, part, item, Stored.count(item, cut.epoch())),
                        null));
            }
        }
        return CompletableFuture.allOf(stripes.toArray(CompletableFuture[]::new))
                .thenApply(_ -> totals);
    }

    private static void addLeaf(Totals totals, Part part, Map<String, AttributeValue> item, Delta.@Nullable Sums sums) {
        if (sums == null) {
            throw new Overtaken(0);
        }
        Tuple group = Stored.group(item);
        if (!sums.isZero() && part.has(group)) {
            Aggregate aggregate = totals.empty();
            aggregate.add(sums);
            totals.add(group, aggregate);
        }
    }

    private static void addValue(Totals totals, Part part, Map<String, AttributeValue> item, @Nullable Long count) {
        if (count == null) {
            throw new Overtaken(0);
        }
        Tuple group = Stored.group(item);
        if (count != 0 && part.has(group)) {
            Aggregate aggregate = totals.empty();
            aggregate.add(Stored.measure(item), Stored.amount(item), count);
            totals.add(group, aggregate);
        }
    }

    private CompletableFuture<Void> query(
            String partition,
            byte[] prefix,
            Consumer<Map<String, AttributeValue>> sink,
            @Nullable Map<String, AttributeValue> start) {
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().totals())
                .keyConditionExpression("p = :p AND begins_with(g, :g)")
                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(partition), ":g", Items.bytes(prefix)))
                .consistentRead(true)
                .exclusiveStartKey(start)
                .build();
        return store.retried(() -> store.client().query(request)).thenCompose(response -> {
            synchronized (this) {
                response.items().forEach(sink);
            }
            return response.lastEvaluatedKey().isEmpty()
                    ? CompletableFuture.completedFuture(null)
                    : query(partition, prefix, sink, response.lastEvaluatedKey());
        });
    }
}
