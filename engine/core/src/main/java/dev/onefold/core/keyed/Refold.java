package dev.onefold.core.keyed;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.keyed.Change.Letter;
import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.keyed.Change.Withdrawn;
import dev.onefold.core.keyed.Kept.Image;
import dev.onefold.core.keyed.StepFunction.Result;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// All that is kept of a key, folded again from the context below it, because an event came that belongs
/// between, or because the function is a newer one.
///
/// A row that it writes holds its last write. A row that was written before and is not written any more holds
/// its content below the kept events. Nothing changes if that would be too much for one atomic step.
final class Refold {
    private final StepFunction function;
    private final List<String> key;
    private final KeptEvents kept;
    private final TableRows tables;
    private final int code;
    private boolean staysSkipped;
    private final List<Letter> letters = new ArrayList<>();
    private final List<Withdrawn> withdrawn = new ArrayList<>();
    private @Nullable Malformed failure;

    /// The result of a refold.
    ///
    /// @param wide reason why the refold is too much for one step: then no other component may be used; `null` if
    ///     it is not
    /// @param rows all rows that the refold writes or withdraws
    /// @param stays events that stay kept
    /// @param leaves events that are no longer kept: no later event can be folded before them
    /// @param failure reason why the event that came was skipped; `null` if it was folded
    record Outcome(
            @Nullable String wide,
            byte[] context,
            Map<RowId, byte @Nullable []> rows,
            List<Kept> stays,
            List<Kept> leaves,
            Base base,
            List<Letter> letters,
            List<Withdrawn> withdrawn,
            @Nullable Malformed failure) {}

    /// @param code version of the function that has folded the key
    Refold(StepFunction function, List<String> key, KeptEvents kept, TableRows tables, int code) {
        this.function = function;
        this.key = key;
        this.kept = kept;
        this.tables = tables;
        this.code = code;
    }

    /// Folds all that is kept once more.
    Outcome of(List<Kept> events) {
        return of(events, null, null);
    }

    /// The same for a comparison with the stored state. If rows of other keys decide about events, those that are
    /// skipped stay so: by now the rows may be free.
    Outcome audited(List<Kept> events) {
        staysSkipped = function.sharesRows();
        return of(events);
    }

    /// Folds events in their order.
    ///
    /// @param events all that is kept, and the one that came
    /// @param arrived the one that came; `null`: none
    /// @param as how it came; `null`: none
    Outcome of(List<Kept> events, @Nullable Kept arrived, @Nullable Arrival as) {
        Map<RowId, byte @Nullable []> below = new TreeMap<>();
        byte[] context = function.upgraded(key, code, kept.below(below));
        Map<RowId, byte @Nullable []> written = new TreeMap<>();
        Map<RowId, byte @Nullable []> belowWindow = Map.of();
        byte[] baseContext = context;
        TreeSet<RowId> inWindow = new TreeSet<>();
        List<Base.Event> after = new ArrayList<>();
        int out = kept.excess(events);
        askAhead(context, events);
        for (int i = 0; i < events.size(); i++) {
            if (i == out) {
                baseContext = context;
                belowWindow = new TreeMap<>(written);
            }
            Kept event = events.get(i);
            Malformed why = null;
            if (event.isPurged()) {
                why = purged(event, arrived, as);
            } else if (staysSkipped && kept.isSkipped(event)) {
                why = KeyFold.failed("It is skipped");
            } else if (!event.isFiltered()) {
                switch (function.step(key, context, event.content())) {
                    case Result.Done done -> {
                        boolean decides = isArrived(event, arrived) || kept.isSkipped(event);
                        Malformed others = decides ? others(done.rows().keySet()) : null;
                        why = others == null ? tooMany(done.rows(), written, below) : others;
                        if (why == null) {
                            context = done.context();
                            written.putAll(done.rows());
                            if (i >= out) {
                                inWindow.addAll(done.rows().keySet());
                            }
                        }
                    }
                    case Result.Failed failed -> why = KeyFold.failed(failed.why());
                }
            }
            note(event, why, arrived);
            if (i >= out) {
                after.add(new Base.Event(event.ordinal(), why != null));
            }
        }
        Map<RowId, byte @Nullable []> rows = new TreeMap<>(below);
        rows.putAll(written);
        tables.load(rows.keySet());
        Base base = new Base(baseContext, images(inWindow, belowWindow, below), after);
        return new Outcome(
                wide(rows, base),
                context,
                rows,
                events.subList(out, events.size()),
                events.subList(0, out),
                base,
                letters,
                withdrawn,
                failure);
    }

    private List<Image> images(
            Set<RowId> rows, Map<RowId, byte @Nullable []> belowWindow, Map<RowId, byte @Nullable []> below) {
        List<Image> images = new ArrayList<>();
        for (RowId row : rows) {
            images.add(new Image(row, held(row, belowWindow, below)));
        }
        return images;
    }

    /// Why an event that a person has purged contributes nothing; `null` if it has lost a conflict, and needs no
    /// letter.
    private @Nullable Malformed purged(Kept event, @Nullable Kept arrived, @Nullable Arrival as) {
        String why = isArrived(event, arrived) && as != null
                ? as.failure()
                : kept.isSkipped(event) ? "A person has purged it" : null;
        return why == null ? null : KeyFold.failed(why);
    }

    /// Why a step that is folded for the first time cannot write these rows; `null` if it can. A step that was
    /// folded before may write a row that its key owned then and another key owns now: what counts is whether the
    /// row is there in the end.
    private @Nullable Malformed others(Collection<RowId> rows) {
        if (!function.sharesRows()) {
            return null;
        }
        tables.load(rows);
        String others = tables.others(rows);
        return others == null ? null : KeyFold.notTheOwner(others);
    }

    /// Without a step that fails, these are the calls.
    private void askAhead(byte[] context, List<Kept> events) {
        if (function.aheadMax() > 0) {
            List<byte[]> contents = events.stream()
                    .filter(event -> !event.isPurged() && !event.isFiltered())
                    .map(Kept::content)
                    .toList();
            function.aheadOfRefold(new StepFunction.Chain(context, contents));
        }
    }

    /// Why a step among those that are folded again touches too many groups; `null` if it does not.
    private @Nullable Malformed tooMany(
            Map<RowId, byte @Nullable []> rows,
            Map<RowId, byte @Nullable []> written,
            Map<RowId, byte @Nullable []> below) {
        if (!function.feeds().mayBeTooMany(rows.keySet())) {
            return null;
        }
        tables.load(rows.keySet());
        List<RowChange> changes = new ArrayList<>();
        rows.forEach((row, content) -> {
            byte[] before = held(row, written, below);
            if (!Arrays.equals(before, content)) {
                changes.add(new RowChange(row, before, content));
            }
        });
        String wide = function.feeds().tooMany(changes);
        return wide == null ? null : KeyFold.failed("The step " + wide);
    }

    /// The content of a row after some writes; `null` if the row is not there then.
    private byte @Nullable [] held(
            RowId row, Map<RowId, byte @Nullable []> written, Map<RowId, byte @Nullable []> below) {
        return written.containsKey(row) ? written.get(row) : below.containsKey(row) ? below.get(row) : tables.now(row);
    }

    /// A letter is kept for each event that is skipped now and was not skipped before, and for no other
    /// event.
    private void note(Kept event, @Nullable Malformed why, @Nullable Kept arrived) {
        if (isArrived(event, arrived)) {
            failure = why;
        } else if (why != null && !kept.isSkipped(event)) {
            letters.add(new Letter(why, event.origin(), VersionBytes.of(event.version()), event.content()));
        } else if (why == null && kept.isSkipped(event)) {
            withdrawn.add(event.withdrawn());
        }
    }

    private static boolean isArrived(Kept event, @Nullable Kept arrived) {
        return arrived != null && event.ordinal() == arrived.ordinal();
    }

    private @Nullable String wide(Map<RowId, byte @Nullable []> rows, Base base) {
        List<RowId> there = new ArrayList<>();
        if (function.sharesRows()) {
            rows.forEach((row, content) -> {
                if (content != null) {
                    there.add(row);
                }
            });
        }
        String others = tables.others(there);
        if (others != null) {
            return "its refold would put " + others;
        }
        List<RowChange> changes = tables.changes(rows);
        long bytes = 0;
        for (RowChange change : changes) {
            bytes += change.row().key().bytes().length + (change.after() == null ? 0 : change.after().length);
        }
        String right = " is too much for one step: at most ";
        if (changes.size() > StepFunction.ROWS_MAX) {
            return "its refold would change " + changes.size() + " rows, which" + right + StepFunction.ROWS_MAX;
        }
        if (bytes > StepFunction.WRITTEN_BYTES_MAX) {
            return "its refold would write " + bytes + " bytes, which" + right + StepFunction.WRITTEN_BYTES_MAX;
        }
        if (base.encoded().length > KeyFold.BASE_BYTES_MAX) {
            return "what its refold would undo has " + base.encoded().length + " bytes, which" + right
                    + KeyFold.BASE_BYTES_MAX;
        }
        return function.feeds().tooMany(changes);
    }
}
