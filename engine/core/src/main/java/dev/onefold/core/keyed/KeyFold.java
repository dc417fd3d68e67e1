package dev.onefold.core.keyed;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.keyed.Change.Letter;
import dev.onefold.core.keyed.Change.Withdrawn;
import dev.onefold.core.keyed.Kept.Image;
import dev.onefold.core.keyed.Kept.Undo;
import dev.onefold.core.keyed.StepFunction.Result;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.NewVersion;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.state.Key;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Folds events into one key. All of its rules are here and in [Refold]; a runtime stores the result of
/// [#change] in one atomic step, or nothing of it.
///
/// With `in-order` the result is that of folding the key's accepted events in the order of their versions. An
/// event above all others is folded onto the latest context; the state that its step replaces is kept beside
/// it. Any other event is put where it belongs, and the events that are kept are folded again from the
/// context below them. A row then holds the last write of the refold, or its content below the events that
/// are kept. The lowest events leave when no later event could be folded before them any more: `keep` newer
/// ones are there, or [#BYTES_MAX] bytes of them. They are not read for that: the stored events that have
/// left are deleted some time later, many at once. So the cost of an event does not depend on `keep`.
///
/// It is not thread-safe.
public final class KeyFold {
    /// Greatest number of bytes of the events that are kept of one key, with their undo data.
    public static final long BYTES_MAX = 300_000;

    /// Greatest number of bytes of a [Base].
    public static final long BASE_BYTES_MAX = 390_000;

    private static final int FAILED_MAX = 100;
    private static final String OTHER_STAYS =
            "This version of the key came with two contents; the other one is greater and stays";

    private final StepFunction function;
    private final Processing processing;
    private final List<String> key;
    private final @Nullable Head stored;
    private Head head;
    private final TableRows tables;
    private final Store store;
    private @Nullable KeptEvents kept; // Made when it is needed.
    private final List<Letter> letters = new ArrayList<>(0);
    private final List<Withdrawn> withdrawn = new ArrayList<>(0);

    /// @param key of the pipeline, as an event has it
    /// @param stored the head of the key; `null` if it has none
    /// @throws OlderCodeException if a newer version of the function has folded the key
    public KeyFold(StepFunction function, byte[] key, @Nullable Head stored, Store store) {
        this(function, Key.parts(function.pipeline(), key), stored, store);
    }

    /// @param key its parts
    /// @param stored the head of the key; `null` if it has none
    /// @throws OlderCodeException if a newer version of the function has folded the key
    public KeyFold(StepFunction function, List<String> key, @Nullable Head stored, Store store) {
        this.function = function;
        this.processing = function.processing();
        this.key = key;
        this.stored = stored;
        this.store = store;
        head = stored == null ? Head.start(processing.version(), function.start()) : stored;
        tables = new TableRows(store, function);
        if (head.code() > processing.version()) {
            throw new OlderCodeException(head.code(), processing.version());
        }
        if (head.code() < processing.version()) {
            upgrade();
            head = head.by(processing.version());
        }
    }

    private KeptEvents kept() {
        if (kept == null) {
            kept = new KeptEvents(head, store, processing.keep());
        }
        return kept;
    }

    /// Folds an event.
    public Verdict fold(Arrival event) {
        return switch (processing.order()) {
            case LATEST -> latest(event);
            case EVERY -> every(event);
            case IN_ORDER -> inOrder(event);
        };
    }

    /// Whether there is anything to be stored.
    @SuppressWarnings("ReferenceEquality") // A head that nothing has changed is the very one that was stored.
    public boolean hasChanged() {
        return head != stored || !letters.isEmpty();
    }

    /// The change that results from all events folded so far.
    public Change change() {
        if (kept == null) {
            return new Change(head.step(), List.of(), List.of(), null, false, tables.changes(), letters, withdrawn);
        }
        Runs runs = processing.order() == Order.IN_ORDER ? kept.runs() : head.runs();
        return new Change(
                head.keeping(runs, kept.window()).step(),
                kept.added(),
                kept.dropped(),
                kept.newBase(),
                kept.dropsBase(),
                tables.changes(),
                letters,
                withdrawn);
    }

    private Verdict latest(Arrival event) {
        int order = head.compareTo(event);
        if (order > 0) {
            return Verdict.STALE;
        }
        return order == 0 && !(event.isRedriven() && head.failed().contains(event.number()))
                ? same(event)
                : takeIn(event, Runs.NONE);
    }

    private Verdict every(Arrival event) {
        BigInteger version = event.number();
        Runs runs = head.runs();
        boolean again = event.isRedriven() && head.failed().contains(version);
        if (!again && (runs.contains(version) || head.failed().contains(version))) {
            return head.compareTo(event) == 0 ? same(event) : Verdict.DUPLICATE;
        }
        if (!again && runs.isForgotten(version)) {
            return reject(
                    event,
                    Reason.TOO_LATE,
                    "The number is too old to tell whether it is in: runs of numbers are remembered above "
                            + runs.floor() + " (keep: " + processing.keep() + ")");
        }
        return takeIn(event, runs.with(version, processing.keep()));
    }

    /// An event whose version came before, and cannot be undone.
    private Verdict same(Arrival event) {
        if (event.hash() == head.contentHash()) {
            return Verdict.DUPLICATE;
        }
        boolean isFolded = !head.failed().contains(event.number());
        reject(
                event,
                Reason.CONFLICT,
                "This version of the key came with another content, which "
                        + (isFolded
                                ? "was folded and stays"
                                : "is a dead letter, too; nothing of this version is folded. A redrive tries this"
                                        + " content"));
        return Verdict.CONFLICTING;
    }

    /// Folds an event onto the latest context.
    private Verdict takeIn(Arrival event, Runs runs) {
        List<BigInteger> failed = processing.order() == Order.LATEST ? List.of() : head.failed();
        Folded folded = foldOnto(head.context(), event);
        if (folded.why != null && leavesAsItWas(event)) {
            return reject(event, folded.why);
        }
        Runs in = runs;
        if (!failed.isEmpty() || folded.why != null) {
            failed = new ArrayList<>(failed);
            failed.remove(event.number());
        }
        if (folded.why != null) {
            reject(event, folded.why);
            if (failed.size() < FAILED_MAX) {
                failed.add(event.number());
            } else {
                in = head.runs(); // Its redrive must find that it is not in.
            }
        } else if (!failed.isEmpty() && head.compareTo(event) >= 0) {
            cameLate(event); // It may be one of more failed events than are noted.
        }
        head = head.compareTo(event) <= 0
                ? head.at(event.version(), event.hash(), folded.context, failed, in)
                : head.at(head.version(), head.contentHash(), folded.context, failed, in);
        return folded.why == null ? Verdict.ACCEPTED : Verdict.REJECTED;
    }

    /// The result of a step onto a context.
    ///
    /// @param undo the rows that the step replaced, with `in-order` alone
    /// @param why the reason of the failure; `null` if the step did not fail
    private record Folded(
            byte[] context, List<Image> undo, @Nullable Malformed why) {}

    /// Whether an event at which the function has failed changes nothing: a person has sent it again, and it
    /// keeps its letter; with `in-order`, the event that came first keeps its place. The first event of a key
    /// is not such an event.
    private boolean leavesAsItWas(Arrival event) {
        return event.isRedriven() && head.version().length > 0;
    }

    private Folded foldOnto(byte[] context, Arrival event) {
        if (Arrival.isFiltered(event.content())) {
            return new Folded(context, List.of(), null);
        }
        if (event.isPurged()) {
            String failure = event.failure();
            return new Folded(context, List.of(), failure == null ? null : failed(failure));
        }
        switch (function.step(key, context, event.content())) {
            case Result.Done done -> {
                tables.load(done.rows().keySet());
                String others =
                        function.sharesRows() ? tables.others(done.rows().keySet()) : null;
                if (others != null) {
                    return new Folded(context, List.of(), notTheOwner(others));
                }
                Feeds feeds = function.feeds();
                String wide =
                        feeds.mayBeTooMany(done.rows().keySet()) ? feeds.tooMany(tables.changes(done.rows())) : null;
                if (wide != null) {
                    return new Folded(context, List.of(), failed("The step " + wide));
                }
                List<Image> undo = processing.order() == Order.IN_ORDER
                        ? tables.images(done.rows().keySet())
                        : List.of();
                tables.write(done.rows());
                return new Folded(done.context(), undo, null);
            }
            case Result.Failed failed -> {
                return new Folded(context, List.of(), failed(failed.why()));
            }
        }
    }

    static Malformed failed(String why) {
        return new Malformed(Reason.FAILED, why);
    }

    /// @param others see [TableRows#others]
    static Malformed notTheOwner(String others) {
        return new Malformed(Reason.NOT_THE_OWNER, "The step writes " + others);
    }

    private Verdict reject(Arrival event, Reason reason, String why) {
        return reject(event, new Malformed(reason, why));
    }

    private Verdict reject(Arrival event, Malformed why) {
        letters.add(new Letter(why, event.origin(), event.version(), null));
        return Verdict.REJECTED;
    }

    private Verdict inOrder(Arrival event) {
        int order = head.compareTo(event);
        if (order < 0) {
            return append(event);
        }
        if (order == 0 && !event.isRedriven() && event.hash() == head.contentHash()) {
            return Verdict.DUPLICATE;
        }
        BigInteger version = event.number();
        List<Kept> all = kept().sorted();
        BigInteger below = kept().below(all);
        if (below != null && version.compareTo(below) <= 0) {
            return belowWindow(event, version, below, all);
        }
        for (Kept each : all) {
            if (each.version().equals(version)) {
                return again(event, each, all);
            }
        }
        return refold(event, version, all, null);
    }

    private Verdict belowWindow(Arrival event, BigInteger version, BigInteger below, List<Kept> all) {
        Runs runs = kept().runs();
        boolean isIn = runs.contains(version)
                || all.stream().anyMatch(each -> each.version().equals(version));
        if (isIn && !event.isRedriven()) {
            return Verdict.DUPLICATE;
        }
        BigInteger codeFloor = kept().window().codeFloor();
        String why;
        if (runs.isForgotten(version)) {
            why = "The event is too late, or already in: which versions are in is remembered above " + runs.floor();
        } else if (codeFloor != null && version.compareTo(codeFloor) <= 0) {
            why = "The event is too late: what comes before version " + codeFloor
                    + " was folded by an older version of the function";
        } else {
            int newer = all.size() - kept().excess(all);
            why = "The event is too late: events up to version " + below + " are folded for good ("
                    + (newer < processing.keep()
                            ? newer + " newer ones are kept; no more are, because of their bytes (" + BYTES_MAX
                                    + " of a key), or because what was kept could not be read)"
                            : "keep: " + processing.keep() + ")");
        }
        return reject(event, Reason.TOO_LATE, why);
    }

    /// An event whose version is kept.
    private Verdict again(Arrival event, Kept old, List<Kept> all) {
        int order = Arrays.compareUnsigned(event.content(), function.today(old.content()));
        if (event.isRedriven() && kept().isSkipped(old)) {
            return refold(event, old.version(), all, old);
        }
        if (order == 0) {
            return Verdict.DUPLICATE;
        }
        if (order < 0) {
            reject(event, Reason.CONFLICT, OTHER_STAYS);
            return Verdict.CONFLICTING;
        }
        boolean wasSkipped = kept().isSkipped(old);
        Verdict verdict = refold(event, old.version(), all, old);
        if (!isKept(old)) {
            if (wasSkipped) {
                withdrawn.add(old.withdrawn());
            }
            letters.add(new Letter(
                    new Malformed(Reason.CONFLICT, OTHER_STAYS),
                    old.origin(),
                    VersionBytes.of(old.version()),
                    old.content()));
        }
        return verdict == Verdict.ACCEPTED ? Verdict.CONFLICTING : verdict;
    }

    private boolean isKept(Kept event) {
        return kept().sorted().stream().anyMatch(each -> each.ordinal() == event.ordinal());
    }

    private Verdict append(Arrival event) {
        byte[] context = head.context();
        Folded folded = foldOnto(context, event);
        if (folded.why != null) {
            reject(event, folded.why);
            if (leavesAsItWas(event)) {
                return Verdict.REJECTED;
            }
        }
        head = head.at(event.version(), event.hash(), folded.context);
        kept().append(new Kept(
                kept().next(),
                event.number(),
                event.content(),
                event.origin(),
                folded.why != null,
                event.isPurged(),
                new Undo(context, folded.undo)));
        return folded.why == null ? Verdict.ACCEPTED : Verdict.REJECTED;
    }

    /// Folds all kept events again, with an event that did not come last.
    ///
    /// @param replaced the event that it replaces; `null`: none
    private Verdict refold(Arrival event, BigInteger version, List<Kept> all, @Nullable Kept replaced) {
        Kept arrived = new Kept(kept().next(), version, event.content(), event.origin(), false, event.isPurged(), null);
        List<Kept> events = new ArrayList<>(all);
        events.remove(replaced);
        events.add(arrived);
        events.sort(Kept.BY_VERSION);
        Refold.Outcome outcome = new Refold(function, key, kept(), tables, head.code()).of(events, arrived, event);
        if (outcome.wide() != null) {
            return reject(event, Reason.TOO_LATE, "The event is too late: " + outcome.wide());
        }
        if (outcome.failure() != null && leavesAsItWas(event)) {
            return reject(event, outcome.failure());
        }
        take(outcome, replaced);
        if (outcome.failure() != null) {
            return reject(event, outcome.failure());
        }
        cameLate(event);
        return Verdict.ACCEPTED;
    }

    /// Withdraws the letter of a late event, which may have been refused when it came before. For a redriven
    /// event, its sender removes the letter.
    private void cameLate(Arrival event) {
        if (event.way() == Arrival.Way.ARRIVED) {
            withdrawn.add(new Withdrawn(event.version(), event.content(), event.origin(), false));
        }
    }

    private void take(Refold.Outcome outcome, @Nullable Kept replaced) {
        tables.write(outcome.rows());
        kept().take(outcome, replaced);
        head = replaced != null && replaced.version().equals(head.number())
                ? head.at(head.version(), Arrival.hash(newestContent(outcome)), outcome.context())
                : head.with(outcome.context());
        letters.addAll(outcome.letters());
        withdrawn.addAll(outcome.withdrawn());
    }

    private static byte[] newestContent(Refold.Outcome outcome) {
        return (outcome.stays().isEmpty() ? outcome.leaves() : outcome.stays())
                .getLast()
                .content();
    }

    /// The function has a higher version than the one that folded the key.
    private void upgrade() {
        boolean refolded = false;
        if (kept().window().count() > 0 && processing.onNewVersion() == NewVersion.REFOLD) {
            Refold.Outcome outcome = new Refold(function, key, kept(), tables, head.code()).of(kept().sorted());
            refolded = outcome.wide() == null;
            if (refolded) {
                take(outcome, null);
            }
        }
        if (!refolded) {
            head = head.with(function.upgraded(key, head.code(), head.context()));
            if (processing.order() == Order.IN_ORDER) {
                kept().releaseAll(head.number());
            }
        }
    }
}
