package dev.onefold.aws.read;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.totals.Totals;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /// The totals that were read, in the order of the parts.
    ///
    /// @param at time: all that was written before it is in the totals
    /// @param epoch of the totals: a later reading, of this epoch or a later one, has all that is in this one
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

    /// Compares the served view with another one of the same pipeline, in one cut. If the definition is another
    /// by then, the view may have been taken away before the cut, and lack what was written since.
    ///
    /// @param view all of whose rows are filled, and their deltas added
    /// @param rows how many these are
    /// @throws Filling.Overtaken if somebody has changed the definition
    public static Verification compare(Store store, Definition definition, Definition.View view, long rows) {
        String truth = rows + " rows" + (view.oneIn() == 1 ? "" : ", for one leaf group in " + view.oneIn());
        Verification verification = differences(store, definition, view, truth);
        if (!new Definitions(store).load().equals(definition)) {
            throw new RowFill.Overtaken(view.number());
        }
        return verification;
    }

    /// The same of a definition that nobody changes.
    ///
    /// @param truth description of the data that the view is made of
    public static Verification differences(Store store, Definition definition, Definition.View view, String truth) {
        List<Part> parts = new ArrayList<>();
        int rollups = Rollups.of(definition.servedView().pipeline()).all().size();
        for (int number : List.of(definition.served(), view.number())) {
            for (int rollup = 0; rollup < rollups; rollup++) {
                parts.add(new Part(number, rollup, Tuple.of(List.of()), view));
            }
        }
        List<Totals> totals =
                new TotalsReads(store, definition).read(parts, Cut.NEXT).totals();
        return Verification.of(totals.subList(0, rollups), totals.subList(rollups, 2 * rollups), truth);
    }

    /// Reads all parts as of the same instant, which others may have chosen up to a second ago.
    public Reading read(List<Part> parts) {
        return read(parts, 0);
    }

    /// The same, and nothing from before an epoch.
    ///
    /// @param least an epoch that was read, or was open
    public Reading read(List<Part> parts, long least) {
        return read(parts, least, true);
    }

    /// The same as of the end of an epoch that is closed after this call begins.
    public Reading readClosed(List<Part> parts) {
        return read(parts, Cut.NEXT, false);
    }

    private Reading read(List<Part> parts, long least, boolean mayBeOpen) {
        // Others may share a cut that was closed before the served view was whole.
        long enough = least == Cut.NEXT
                ? least
                : Math.max(least, definition.servedView().since());
        for (int attempt = mayBeOpen ? 1 : 2; attempt <= ATTEMPTS_MAX; attempt++) {
            try {
                return read(parts, enough, attempt);
            } catch (Overtaken overtaken) {
                enough = enough == Cut.NEXT ? enough : Math.max(enough, overtaken.least);
            }
            if (attempt < ATTEMPTS_MAX) {
                store.backOff(attempt);
            }
        }
        throw new IllegalStateException("The totals have changed " + ATTEMPTS_MAX
                + " times while this answer was read, each time before it was whole. Ask again, or for less.");
    }

    /// The headers of all lanes at one instant, all of whose commits are visible; empty if others are at work on them.
    public Optional<List<Header>> instant() {
        List<Header> headers = Cut.quietHeaders(store, definition);
        if (headers.size() < definition.lanes()) {
            return Optional.empty();
        }
        Cut.settle(store, headers);
        return Optional.of(headers);
    }

    /// The headers of all lanes, each as of an instant of its own, all of whose commits are visible.
    public List<Header> settledHeaders() {
        List<Header> headers = headers();
        Cut.settle(store, headers);
        return headers;
    }

    /// Closes an epoch.
    ///
    /// @return the epoch; all of its commits are visible
    public long close() {
        return Cut.take(store, definition, store.clock().instant(), Cut.NEXT).epoch();
    }

    /// The headers of all lanes, which are made if need be, each as of an instant of its own.
    public List<Header> headers() {
        for (int attempt = 1; ; attempt++) {
            List<Header> headers = Cut.headers(store, definition);
            if (headers.size() == definition.lanes()) {
                return headers;
            }
            Headers.make(store, definition);
            store.backOff(attempt);
        }
    }

    /// The epoch that is open; 0 where nothing was ever added.
    public long open() {
        List<Header> headers = Cut.headers(store, definition);
        return headers.size() < definition.lanes() ? 0 : Cut.epoch(headers);
    }

    /// The last commit of each lane that has a header. A cut that is closed after this call has them.
    public List<Long> lasts() {
        return Cut.headers(store, definition).stream().map(Header::last).toList();
    }

    private Reading read(List<Part> parts, long least, int attempt) {
        Instant now = store.clock().instant();
        Instant at = Lag.oldest(store, definition.lanes(), now);
        if (attempt > OVERTAKEN_MAX) {
            return held(parts, at, least);
        }
        return at.equals(now) && attempt == 1 ? still(parts, at, least) : closed(parts, at, least);
    }

    /// Where nothing waits to be added, probably nothing is while this is read: then no epoch need be closed,
    /// and nothing be written. Each commit moves a header, so equal headers before and after are one cut, if no
    /// commit is under way then.
    private Reading still(List<Part> parts, Instant at, long least) {
        List<Header> before = Cut.headers(store, definition);
        if (before.size() < definition.lanes()) {
            return closed(parts, at, least);
        }
        Cut.settle(store, before);
        Reading reading = read(parts, new Cut(Cut.NOW, at), Cut.epoch(before));
        return isSame(before, Cut.quietHeaders(store, definition)) ? reading : closed(parts, at, least);
    }

    private static boolean isSame(List<Header> before, List<Header> after) {
        return before.stream()
                .map(Header::commits)
                .toList()
                .equals(after.stream().map(Header::commits).toList());
    }

    private Reading closed(List<Part> parts, Instant at, long least) {
        Cut cut = Cut.take(store, definition, at, least);
        return read(parts, cut, cut.epoch());
    }

    /// For an answer that takes long to read. A reader that was overtaken in spite of a hold does not join it
    /// again: some of its copies are gone.
    private Reading held(List<Part> parts, Instant at, long least) {
        HeldCut held = HeldCut.take(store, definition, at, least);
        AtomicBoolean isRead = new AtomicBoolean();
        store.threads().execute(() -> held.renewUntil(isRead::get, store, definition));
        try {
            return read(parts, held.cut(), held.cut().epoch());
        } catch (Overtaken overtaken) {
            if (held.isOver(store)) {
                throw new IllegalStateException("This answer took longer to read than " + HeldCut.HELD_MAX.toSeconds()
                        + " s, and the totals do not keep their values for longer while they change."
                        + " Ask for less: for a group, or one level.");
            }
            throw new Overtaken(held.cut().epoch() + 1);
        } finally {
            isRead.set(true);
        }
    }

    private Reading read(List<Part> parts, Cut cut, long epoch) {
        return new Reading(store.threads().all(parts, part -> read(part, cut)), cut.covers(), epoch);
    }

    private Totals read(Part part, Cut cut) {
        Rollup rollup =
                Rollups.of(definition.view(part.view()).pipeline()).all().get(part.rollup());
        int summed = Stored.summed(definition.view(part.view()).pipeline(), part.rollup());
        Totals totals = new Totals(rollup);
        List<Stripe> stripes = new ArrayList<>();
        for (int lane = 0; lane < definition.lanes(); lane++) {
            String partition = TotalsKey.partition(part.view(), lane);
            stripes.add(new Stripe(
                    partition,
                    TotalsKey.leavesUnder(part.rollup(), part.under()),
                    item -> addLeaf(totals, part, item, Stored.sums(item, summed, cut.epoch()))));
            if (rollup.measures().size() > summed) {
                stripes.add(new Stripe(
                        partition,
                        TotalsKey.valuesUnder(part.rollup(), part.under()),
                        item -> addValue(totals, part, item, Stored.count(item, cut.epoch()))));
            }
        }
        store.threads().each(stripes, this::read);
        return totals;
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

    /// The items of a lane that a part is made of, and what takes each of them.
    private record Stripe(String partition, byte[] prefix, Consumer<Map<String, AttributeValue>> sink) {}

    private void read(Stripe stripe) {
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().totals())
                .keyConditionExpression("p = :p AND begins_with(g, :g)")
                .expressionAttributeValues(
                        Map.of(":p", AttributeValue.fromS(stripe.partition()), ":g", Items.bytes(stripe.prefix())))
                .consistentRead(true)
                .build();
        Queries.pages(store, request, page -> {
            synchronized (this) {
                page.items().forEach(stripe.sink());
            }
            return true;
        });
    }
}
