package dev.onefold.aws;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Version;
import dev.onefold.core.letter.Edits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The dead letters as the verbs see them.
final class AwsDeadLetters implements DeadLetters {
    private static final int LIST_MAX = 1_000;

    private final Way way;
    private final LetterTable table;
    private final Supplier<Pipeline> pipeline;

    /// How a record goes that is redriven.
    ///
    /// @param redrive brings it where a record of the input goes
    /// @param reduce brings what was redriven into the totals, without waiting for the function that does
    record Way(Function<Arrival, Fate> redrive, Runnable reduce) {}

    /// @param pipeline the one that is served
    AwsDeadLetters(Store store, Supplier<Pipeline> pipeline, Way way) {
        this.pipeline = pipeline;
        this.way = way;
        table = new LetterTable(store);
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        return table.list(after, limit);
    }

    @Override
    public long size() {
        long size = 0;
        List<DeadLetter> some = list(0, LIST_MAX);
        while (!some.isEmpty()) {
            size += some.size();
            some = list(some.getLast().id(), LIST_MAX);
        }
        return size;
    }

    @Override
    public byte[] record(long id) {
        Arrival arrival = table.arrival(id);
        if (arrival == null) {
            throw new IllegalArgumentException("There is no dead letter " + id + ", perhaps no more");
        }
        return arrival.data();
    }

    @Override
    public Optional<byte[]> edited(long id) {
        return table.edited(id);
    }

    @Override
    public List<OfKey> ofKey(List<String> key, int limit) {
        DeadLetters.requireKeyLimit(limit);
        Pipeline served = pipeline.get();
        byte[] bytes = Key.bytes(served, key);
        Decoder decoder = new Decoder(served);
        List<OfKey> found = new ArrayList<>();
        for (long id : table.ofKeyHash(new RecordIdentity(bytes, null).keyHash())) {
            Optional<DeadLetter> letter = table.letter(id);
            Arrival arrival = letter.isEmpty() ? null : table.arrival(id);
            if (arrival != null && found.size() < limit) {
                RecordIdentity stated = decoder.identity(arrival.kind(), arrival.data());
                if (stated.isOf(bytes)) {
                    found.add(new OfKey(letter.get(), Version.of(served, stated)));
                }
            }
        }
        return found;
    }

    /// Not one step: the letter goes when its record is in. In between, a crash leaves both, and the record is a
    /// duplicate when it is redriven again.
    @Override
    public Redriven redrive(long id, byte @Nullable [] edited, Keys keys) {
        Optional<DeadLetter> letter = table.letter(id);
        if (letter.isPresent() && edited == null && letter.get().content() != DeadLetter.Content.RECORD) {
            return Redriven.NO_RECORD;
        }
        Arrival kept = letter.isEmpty() ? null : table.arrival(id);
        if (kept == null) {
            return Redriven.GONE;
        }
        if (edited != null) {
            Edits.require(letter.get(), kept.data(), edited, new Decoder(pipeline.get()), keys);
        }
        Arrival arrival = edited == null
                ? kept
                : new Arrival(kept.shard(), kept.sequence(), kept.subSequence(), edited, kept.atMs());
        Runnable record = table.removal(id);
        Redriven redriven = settle(id, arrival, edited != null, way.redrive.apply(arrival));
        if (table.letter(id).isEmpty()) {
            record.run(); // A function's step has removed the letter of an event that is in.
        }
        if (redriven == Redriven.ACCEPTED || redriven == Redriven.CONFLICTING) {
            way.reduce.run();
        }
        return redriven;
    }

    private Redriven settle(long id, Arrival arrival, boolean isEdit, Fate fate) {
        return switch (fate) {
            case Fate.Rejected(var malformed) ->
                table.rejectedAgain(id, malformed, arrival.data()) ? Redriven.REJECTED : Redriven.GONE;
            case Fate.Accepted _ -> removed(id, isEdit, Redriven.ACCEPTED);
            case Fate.Duplicate _, Fate.Silent _ -> removed(id, isEdit, Redriven.DUPLICATE);
            case Fate.HandedBack(var why) -> throw why;
            case Fate.Stale _ -> {
                table.remove(id);
                yield Redriven.STALE;
            }
            case Fate.Conflicting(var loser) -> {
                if (loser.isEmpty() || !isKept(id, loser.get(), isEdit)) {
                    removed(id, isEdit, Redriven.CONFLICTING);
                }
                yield Redriven.CONFLICTING;
            }
        };
    }

    /// Keeps the loser of a conflict: as this letter, or as another letter that was kept of it before. If the
    /// loser is an edit, this letter stays, with its record beside the edit.
    ///
    /// @return whether this letter stays
    private boolean isKept(long id, Letter lost, boolean isEdit) {
        Malformed why = new Malformed(lost.reason(), lost.message());
        if (isEdit) {
            table.rejectedAgain(id, why, lost.arrival().data());
            table.keepAs(id, lost.identity());
            return true;
        }
        boolean isThis = table.keepAs(id, lost.identity()) == id;
        if (isThis) {
            table.rejectedAgain(id, why, lost.arrival().data());
        }
        return isThis;
    }

    /// A loser of a conflict stays, as it is, even if it is in: then the greater record was seen and is not in
    /// yet. It comes again, and who loses then is known already and not kept again. With a function, the letter of
    /// a loser is kept in the step of the event that won, so it goes when its record is in. Of a batch the first
    /// record of an id stays, so a loser is in only if that one was forgotten.
    private Redriven removed(long id, boolean isEdit, Redriven redriven) {
        if (isEdit || !(pipeline.get().fold() instanceof Rollups) || !table.isConflict(id)) {
            table.remove(id);
        }
        return redriven;
    }

    @Override
    public int purge(List<Long> ids) {
        int removed = 0;
        for (long id : ids) {
            removed += table.remove(id) ? 1 : 0;
        }
        return removed;
    }
}
