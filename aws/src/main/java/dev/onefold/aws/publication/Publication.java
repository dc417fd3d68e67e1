package dev.onefold.aws.publication;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.CommitLog;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollups;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/// Keeps a table of a deployment's totals that other programs read: one item for each group.
///
/// A writer claims the next cut in the table's [Mark]. Mostly it adds what Reduce has committed since the last
/// cut, to the items of the groups that were touched ([Additions], [CommitLog]). The claim names the commits. A
/// claim that was not finished is taken over with the same commits, so an item is of the last whole cut or of
/// the claimed one, and its cut says which; and all its writers write the same. Where a commit is missing in
/// the log, where the totals are those of another view, and where a pipeline has extremes or distinct counts,
/// the writer reads all totals of one cut and compares all items ([Comparison]). So whatever stops a writer,
/// the next one goes on. The table is derived: it may be emptied at any time. Items that are not published
/// totals are left alone.
///
/// Used by one thread at a time.
public final class Publication {
    /// Of totals that are read and compared for each cut.
    public static final int ITEMS_MAX = 100_000;

    /// So often it is tried to read all headers at one instant, before an epoch is closed.
    private static final int INSTANTS_MAX = 3;

    private static final Duration REST = Duration.ofMinutes(15);
    private static final int FAILURE_LENGTH_MAX = 1_000;

    private final Store store;
    private final Publishing.Items publishing;
    private final int itemsMax;
    private final PublishedTable table;
    private String writer = ""; // Of the last claim of this object.

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
        table = new PublishedTable(store, publishing.table());
    }

    /// What is published.
    private record Source(
            Definition definition, TotalsReads reads, CommitLog log, List<PublishedItems> rollups, String madeOf) {
        /// Whether commits can be added to items.
        private boolean isSummed() {
            return rollups.getFirst().isSummed();
        }
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
        /// @param items how many were compared
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
        new Claims(store).require(found.get());
        Mark mark = table.mark();
        requireOurs(mark);
        Instant now = store.clock().instant();
        if (!isAgain && mark.isUnderWay(now) && !mark.claim().writer().equals(writer)) {
            return new Outcome.Busy();
        }
        Source source = source(found.get());
        if (isAgain || !mark.whole().madeOf().equals(source.madeOf)) {
            return compare(source, mark, now.plus(most), isAgain);
        }
        if (!source.isSummed()) {
            return mark.isWhole() && mark.whole().reached().commits().equals(source.reads.lasts())
                    ? new Outcome.Nothing()
                    : compare(source, mark, now.plus(most), false);
        }
        if (!mark.isWhole()) {
            requireTurn(mark, now);
            return mark.claim().isOfCommits()
                    ? takeOver(source, mark, now.plus(most))
                    : compare(source, mark, now.plus(most), false);
        }
        return add(source, mark, now.plus(most));
    }

    private Source source(Definition definition) {
        List<PublishedItems> rollups =
                PublishedItems.of(Rollups.of(definition.servedView().pipeline()).all(), publishing.top());
        return new Source(
                definition,
                new TotalsReads(store, definition),
                new CommitLog(store, definition.served()),
                rollups,
                Mark.madeOf(
                        definition.incarnation().id(),
                        definition.served(),
                        shape(definition.servedView()) + "/" + table.id()));
    }

    private int top() {
        return publishing.top().map(Publishing.TopList::count).orElse(0);
    }

    /// Adds the commits since the last cut, if there are any.
    private Outcome add(Source source, Mark mark, Instant until) {
        Optional<Mark.Target> target = target(source, mark);
        if (target.isPresent()
                && target.get().commits().equals(mark.whole().reached().commits())) {
            return new Outcome.Nothing();
        }
        Optional<Additions> additions = target.flatMap(instant -> additions(source, mark, instant));
        if (additions.isEmpty()) {
            return compare(source, mark, until, false);
        }
        return claiming(
                mark.next(store.newId(), until, store.tables().totals(), target.get()),
                mark,
                claim -> write(source, claim, additions.get()));
    }

    /// Goes on with a claim that was not finished, with its commits.
    private Outcome takeOver(Source source, Mark mark, Instant until) {
        Mark.Target target = mark.claim().toward();
        return claiming(mark.next(store.newId(), until, store.tables().totals(), target), mark, claim -> {
            // A transaction of that claim may be under way, and its items become visible one after the other.
            store.threads().pause(Store.IN_FLIGHT_MAX);
            Optional<Additions> additions = additions(source, claim, target);
            return additions.isEmpty() ? compare(source, claim, until, false) : write(source, claim, additions.get());
        });
    }

    /// An instant that has just been. Only a closed epoch has one while others commit all the time; empty if
    /// the log lacks commits before its end.
    private Optional<Mark.Target> target(Source source, Mark mark) {
        Instant now = store.clock().instant();
        for (int attempt = 1; attempt <= INSTANTS_MAX; attempt++) {
            Optional<List<Header>> headers = source.reads.instant();
            if (headers.isPresent()) {
                source.log.keep(headers.get());
                return Optional.of(new Mark.Target(lasts(headers.get()), now));
            }
            store.backOff(attempt);
        }
        long epoch = source.reads.close();
        List<Header> headers = source.reads.settledHeaders();
        source.log.keep(headers);
        return source.log
                .lasts(mark.whole().reached().commits(), epoch, lasts(headers))
                .map(commits -> new Mark.Target(commits, now));
    }

    private static List<Long> lasts(List<Header> headers) {
        return headers.stream().map(Header::last).toList();
    }

    private Optional<Additions> additions(Source source, Mark before, Mark.Target target) {
        return source.log
                .between(before.whole().reached().commits(), target.commits())
                .flatMap(added -> Additions.of(table, before, source.rollups, top(), added));
    }

    private Outcome write(Source source, Mark claim, Additions additions) {
        if (!additions.write(claim)
                || !table.put(claim.whole(source.madeOf, claim.claim().toward()), claim)) {
            return new Outcome.Busy();
        }
        return new Outcome.Published(
                claim.claim().cut(),
                claim.claim().toward().at(),
                additions.items(),
                additions.written(),
                additions.removed());
    }

    /// Compares all items with all totals of a cut.
    private Outcome compare(Source source, Mark mark, Instant until, boolean isAgain) {
        if (!isAgain) {
            requireTurn(mark, store.clock().instant());
        }
        return claiming(mark.next(store.newId(), until, store.tables().totals()), mark, claim -> {
            if (!mark.isWhole()) {
                store.threads().pause(Store.IN_FLIGHT_MAX); // As above.
            }
            if (!source.isSummed()) {
                List<Long> lasts = source.reads.lasts();
                return compare(source, claim, source.reads.read(parts(source), source.reads.open()), lasts);
            }
            source.log.keep(source.reads.headers());
            List<Long> lasts = source.reads.lasts(); // All commits after these are in the log.
            TotalsReads.Reading reading = source.reads.readClosed(parts(source));
            List<Long> reached = source.log
                    .lasts(lasts, reading.epoch(), lasts(source.reads.settledHeaders()))
                    .orElseThrow(() -> new IllegalStateException("Commits were added to the totals that are not in"
                            + " their log, as by code of another version that still runs. The next attempt compares"
                            + " all items again."));
            return compare(source, claim, reading, reached);
        });
    }

    private Outcome compare(Source source, Mark claim, TotalsReads.Reading reading, List<Long> commits) {
        if (!isServed(source.definition)) {
            return new Outcome.Busy(); // What was read of a view that is served no more is no answer.
        }
        Comparison comparison = new Comparison(table, claim, reading.at());
        for (int rollup = 0; rollup < source.rollups.size(); rollup++) {
            comparison.add(source.rollups.get(rollup), reading.totals().get(rollup), top());
        }
        if (!source.isSummed() && comparison.items() > itemsMax) {
            throw new TooMany("The totals are more than " + itemsMax + " items. A pipeline with min, max or distinct"
                    + " publishes no more, because all its totals are read and compared each time that one changes;"
                    + " its items stay as they are. Leave min, max and distinct out, or publish fewer groups: from a"
                    + " pipeline of its own on the same stream.");
        }
        if (!comparison.write()
                || !table.put(claim.whole(source.madeOf, new Mark.Target(commits, reading.at())), claim)) {
            return new Outcome.Busy();
        }
        return new Outcome.Published(
                claim.claim().cut(), reading.at(), comparison.items(), comparison.written(), comparison.removed());
    }

    private Outcome claiming(Mark claim, Mark seen, Function<Mark, Outcome> work) {
        writer = claim.claim().writer();
        if (!table.put(claim, seen)) {
            return new Outcome.Busy();
        }
        try {
            return work.apply(claim);
        } catch (RuntimeException failure) {
            release(claim, failure);
            throw failure;
        }
    }

    private List<TotalsReads.Part> parts(Source source) {
        return IntStream.range(0, source.rollups.size())
                .mapToObj(rollup -> TotalsReads.Part.of(source.definition.servedView(), rollup, Tuple.of(List.of())))
                .toList();
    }

    /// Refuses a table that something else is kept in. A mistake in a name must not cost anybody's items.
    private void requireOurs(Mark mark) {
        if (mark.claim().cut() == 0) {
            table.scan(page -> page.forEach(item -> {
                if (!PublishedItems.isPublished(item)) {
                    throw new IllegalStateException("Table " + publishing.table() + " holds items that are not"
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
        if (!mark.isWhole() && mark.restsUntil().isAfter(now)) {
            throw new IllegalStateException((mark.failure().isEmpty()
                            ? "The last " + (mark.claim().cut() - mark.whole().cut()) + " writers of table "
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
            table.put(
                    claim.failed(
                            why.substring(0, Math.min(why.length(), FAILURE_LENGTH_MAX)),
                            failure instanceof TooMany ? now.plus(REST) : now),
                    claim);
        } catch (RuntimeException unreleased) {
            failure.addSuppressed(unreleased); // Then the next one waits for the claim's deadline.
        }
    }

    private boolean isServed(Definition definition) {
        Definition now = new Definitions(store).load();
        return now.served() == definition.served() && now.incarnation().equals(definition.incarnation());
    }

    /// A text that is equal for equal ways to make items of totals.
    private String shape(Definition.View served) {
        Pipeline pipeline = served.pipeline();
        String text = PipelineText.stored(new Pipeline(pipeline.name(), pipeline.input(), pipeline.fold(), publishing));
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8));
    }
}
