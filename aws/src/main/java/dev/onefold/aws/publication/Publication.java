package dev.onefold.aws.publication;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Keeps a table of a deployment's totals that other programs read: one item for each group.
///
/// A writer claims the next cut in the table's [Mark], and reads the totals after that. It compares them with the
/// items, and writes those that differ in transactions that check its claim. So of two writers the later one reads
/// later totals, and the earlier one writes nothing from the claim of the later one on: neither an older value nor an
/// item of a group that is gone. Whatever stops a writer, the next one compares again. The table is derived: it may be
/// emptied at any time. Items that are not published totals are left alone.
///
/// The items of before are read from the table, unless the last cut is one that this object has written. Used by one
/// thread at a time.
public final class Publication {
    /// All of them are read and compared for each cut.
    public static final int ITEMS_MAX = 100_000;

    private static final int ITEMS_PER_TRANSACTION = 99; // Of the hundred, one is the mark.
    private static final Duration REST = Duration.ofMinutes(15);
    private static final int FAILURE_LENGTH_MAX = 1_000;

    private final Store store;
    private final Publishing.Items publishing;
    private final int itemsMax;
    private String writer = ""; // Of the last claim of this object.
    private @Nullable Mark known; // Of which the items are those below.
    private Map<String, Map<String, AttributeValue>> image = Map.of();

    public Publication(Store store, Publishing.Items publishing) {
        this(store, publishing, ITEMS_MAX);
    }

    /// With a lower limit.
    ///
    /// @param itemsMax at most [#ITEMS_MAX]
    public Publication(Store store, Publishing.Items publishing, int itemsMax) {
        this.store = store;
        this.publishing = publishing;
        this.itemsMax = itemsMax;
    }

    /// Nothing changes this but a person, so nobody tries again for a while.
    private static final class TooMany extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        TooMany(String message) {
            super(message);
        }
    }

    /// The result of a step.
    public sealed interface Outcome {
        /// The items are those of the totals, or nothing was deployed.
        record Nothing() implements Outcome {}

        /// Somebody else is writing, or has begun to. The caller looks again later.
        record Busy() implements Outcome {}

        /// A cut was written.
        ///
        /// @param at all that was written to the totals before is in it
        /// @param items how many there are
        record Published(long cut, Instant at, long items, long written, long removed) implements Outcome {}
    }

    /// Brings the table to the totals of now.
    ///
    /// @param most how long the caller may take: nobody else begins before that
    /// @param isAgain compares all items, also if the table says that they are those of the totals
    /// @throws IllegalStateException if it is not possible, or not yet
    public Outcome step(Duration most, boolean isAgain) {
        Optional<Definition> found = new Definitions(store).find();
        if (found.isEmpty()) {
            return new Outcome.Nothing();
        }
        Definition definition = found.get();
        new Claims(store).require(definition);
        Mark mark = mark();
        requireOurs(mark);
        Instant now = store.clock().instant();
        if (!isAgain && mark.isUnderWay(now) && !mark.writer().equals(writer)) {
            return new Outcome.Busy();
        }
        TotalsReads reads = new TotalsReads(store, definition);
        String madeOf = Mark.madeOf(
                definition.incarnation().id(), definition.served(), reads.lasts(), shape(definition.servedView()));
        if (!isAgain && mark.claimed() == mark.cut() && mark.madeOf().equals(madeOf)) {
            return new Outcome.Nothing();
        }
        if (!isAgain) {
            requireTurn(mark, now);
        }
        Mark claim = mark.next(store.newId(), now.plus(most), store.tables().totals());
        writer = claim.writer();
        if (!put(claim, mark)) {
            return new Outcome.Busy();
        }
        try {
            Map<String, Map<String, AttributeValue>> before = before(mark, isAgain);
            known = null;
            TotalsReads.Reading reading = reads.read(parts(definition), reads.open());
            if (!isServed(definition)) {
                return new Outcome.Busy(); // What was read of a view that is served no more is no answer.
            }
            return write(claim, claim.whole(reading.at(), madeOf), before, items(definition, reading));
        } catch (RuntimeException failure) {
            release(claim, failure);
            throw failure;
        }
    }

    /// Refuses a table that something else is kept in. A mistake in a name must not cost anybody's items.
    private void requireOurs(Mark mark) {
        if (mark.claimed() == 0) {
            Queries.scan(
                    store,
                    publishing.table(),
                    page -> page.forEach(item -> {
                        if (!PublishedItems.isPublished(item)) {
                            throw new IllegalStateException(
                                    "Table " + publishing.table() + " holds items that are not"
                                            + " published totals, such as " + item.get(PublishedItems.ID)
                                            + ". Nothing was written to it. Name another table with 'publish', or empty this one.");
                        }
                    }));
        } else if (!mark.totals().equals(store.tables().totals())) {
            throw new IllegalStateException("Table " + publishing.table() + " has the totals of " + mark.totals()
                    + ", and those of " + store.tables().totals() + " cannot be there as well. Nothing was written to"
                    + " it. Name another table with 'publish', or empty this one.");
        }
    }

    private void requireTurn(Mark mark, Instant now) {
        if (mark.claimed() != mark.cut() && mark.restsUntil().isAfter(now)) {
            throw new IllegalStateException((mark.failure().isEmpty()
                            ? "The last " + (mark.claimed() - mark.cut()) + " writers of table "
                                    + publishing.table() + " were stopped before they were done: their time or"
                                    + " their memory was not enough. Raise PublishTimeout and PublishMemory."
                            : mark.failure())
                    + " The next attempt is made after " + mark.restsUntil()
                    + ", or with 'onefold aws publish --again'.");
        }
    }

    /// Lets the next writer begin.
    private void release(Mark claim, RuntimeException failure) {
        String why = String.valueOf(failure.getMessage());
        Instant now = store.clock().instant();
        try {
            put(
                    claim.failed(
                            why.substring(0, Math.min(why.length(), FAILURE_LENGTH_MAX)),
                            failure instanceof TooMany ? now.plus(REST) : now),
                    claim);
        } catch (RuntimeException unreleased) {
            failure.addSuppressed(unreleased); // Then the next one waits for the claim's deadline.
        }
    }

    private Mark mark() {
        return Mark.of(store.get(publishing.table(), Mark.key()));
    }

    /// Puts a mark in the place of another one; whether it is there now. An answer may be lost.
    private boolean put(Mark next, Mark seen) {
        boolean isPut = store.retriedIf(() -> store.client().putItem(request -> {
            request.tableName(publishing.table()).item(next.item());
            request.conditionExpression(seen.isUnmoved());
            if (seen.claimed() > 0) {
                request.expressionAttributeValues(seen.claimAndCut());
            }
        }));
        if (isPut) {
            return true;
        }
        Mark now = mark();
        return now.isClaimOf(next) && now.cut() == next.cut();
    }

    /// The items as they are. Of a writer that has broken off a transaction may be under way, and its items become
    /// visible one after the other.
    private Map<String, Map<String, AttributeValue>> before(Mark mark, boolean isAgain) {
        Mark last = known;
        if (!isAgain && last != null && mark.claimed() == mark.cut() && mark.isClaimOf(last)) {
            return image;
        }
        if (mark.claimed() != mark.cut()) {
            store.threads().pause(Store.IN_FLIGHT_MAX);
        }
        Map<String, Map<String, AttributeValue>> items = new TreeMap<>();
        Queries.scan(
                store,
                publishing.table(),
                page -> page.stream()
                        .filter(PublishedItems::isPublished)
                        .forEach(item -> items.put(PublishedItems.id(item), PublishedItems.compared(item))));
        return items;
    }

    private static List<TotalsReads.Part> parts(Definition definition) {
        List<TotalsReads.Part> parts = new ArrayList<>();
        for (int rollup = 0; rollup < rollups(definition).size(); rollup++) {
            parts.add(TotalsReads.Part.of(definition.servedView(), rollup, Tuple.of(List.of())));
        }
        return parts;
    }

    private static List<Rollup> rollups(Definition definition) {
        return Rollups.of(definition.servedView().pipeline()).all();
    }

    private boolean isServed(Definition definition) {
        Definition now = new Definitions(store).load();
        return now.served() == definition.served() && now.incarnation().equals(definition.incarnation());
    }

    private Map<String, Map<String, AttributeValue>> items(Definition definition, TotalsReads.Reading reading) {
        Map<String, Map<String, AttributeValue>> items = new TreeMap<>();
        List<Rollup> rollups = rollups(definition);
        for (int rollup = 0; rollup < rollups.size(); rollup++) {
            new PublishedItems(rollups.get(rollup)).put(reading.totals().get(rollup), publishing.top(), items);
            if (items.size() > itemsMax) {
                throw new TooMany("The totals are more than " + itemsMax + " items. A published table has no more,"
                        + " because all totals are read and compared each time that one changes; its items stay as"
                        + " they are. Publish fewer groups: from a pipeline of its own on the same stream, with fewer"
                        + " levels.");
            }
        }
        return items;
    }

    /// A text that is equal for equal ways to make items of totals.
    private String shape(Definition.View served) {
        Pipeline pipeline = served.pipeline();
        String text = PipelineText.stored(new Pipeline(pipeline.name(), pipeline.input(), pipeline.fold(), publishing));
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8));
    }

    private Outcome write(
            Mark claim,
            Mark whole,
            Map<String, Map<String, AttributeValue>> before,
            Map<String, Map<String, AttributeValue>> now) {
        List<TransactWriteItem> puts = new ArrayList<>();
        List<TransactWriteItem> lists = new ArrayList<>();
        now.forEach((id, content) -> {
            if (!content.equals(before.get(id))) {
                (PublishedItems.isTop(content) ? lists : puts)
                        .add(put(PublishedItems.item(id, content, whole.cut(), whole.at())));
            }
        });
        long written = puts.size() + (long) lists.size();
        before.keySet().stream().filter(id -> !now.containsKey(id)).forEach(id -> puts.add(delete(id)));
        List<List<TransactWriteItem>> transactions = new ArrayList<>(Parts.of(puts, ITEMS_PER_TRANSACTION));
        lists.forEach(list -> transactions.add(List.of(list))); // Several together may be more than 4 MB.
        for (List<TransactWriteItem> some : transactions) {
            if (!commit(claim, some)) {
                return new Outcome.Busy();
            }
        }
        if (!put(whole, claim)) {
            return new Outcome.Busy();
        }
        known = whole;
        image = now;
        return new Outcome.Published(
                whole.cut(), whole.at(), now.size(), written, puts.size() + (long) lists.size() - written);
    }

    private TransactWriteItem put(Map<String, AttributeValue> item) {
        return TransactWriteItem.builder()
                .put(Put.builder().tableName(publishing.table()).item(item).build())
                .build();
    }

    private TransactWriteItem delete(String id) {
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(publishing.table())
                        .key(PublishedItems.key(id))
                        .build())
                .build();
    }

    /// Whether the claim is still the last one. Done twice it is as if done once.
    private boolean commit(Mark claim, List<TransactWriteItem> some) {
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(TransactWriteItem.builder()
                .conditionCheck(ConditionCheck.builder()
                        .tableName(publishing.table())
                        .key(Mark.key())
                        .conditionExpression(Mark.IS_LAST)
                        .expressionAttributeValues(claim.claim())
                        .build())
                .build());
        items.addAll(some);
        return store.transactIf(items);
    }
}
