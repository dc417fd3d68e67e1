package dev.onefold.embedded.view;

import dev.onefold.core.ConflictLetter;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.RowSummary;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.fold.TotalsFold;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.letters.Rejected;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.source.Source;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides the dead letters of one view again under the definition of another view, which holds the rows already. The
/// old definition refused their records, so no row holds them; the new one may accept them. Order does not matter:
/// versions, ids and contributions decide, as when all records come again.
final class LetterFill {
    private static final int PAGE = 1_000;
    private static final Counts CONFLICTING = new Counts(0, 0, 0, -1, 0);
    private static final Counts REJECTED = new Counts(0, 0, 0, 0, 1);
    private static final Counts NOT_REJECTED = new Counts(0, 0, 0, 0, -1);

    private final View old;
    private final View fresh;
    private final TotalsFold totals;
    private final Derivation.Possible derivation;
    private final Space space;
    private final Decoder decoder;
    private @Nullable String headed;
    private boolean hasColumns;
    private long refused;

    LetterFill(View old, View fresh, TotalsFold totals, Derivation.Possible derivation, Space space) {
        this.totals = totals;
        this.space = space;
        this.old = old;
        this.fresh = fresh;
        this.derivation = derivation;
        decoder = new Decoder(fresh.pipeline);
    }

    /// Takes the letters as they are, before anything is decided.
    void takeLetters() {
        fresh.letters.addAll(old.letters, fresh.checkpoints::takeIfDue);
    }

    /// Makes a letter of a row that the new definition refuses, from the values that are kept of its record.
    void refuse(Row row) {
        Malformed malformed = derivation.refusal(row.payload()).orElseThrow();
        Row kept = translated(row);
        fresh.letters.add(
                malformed,
                RecordIdentity.NONE,
                new Rejected(
                        0,
                        new Place(row.source(), 0, row.offset()),
                        RowSummary.of(kept, fresh.pipeline),
                        fresh.checkpoints.now(),
                        RecordKind.SENT),
                DeadLetter.Content.SUMMARY);
        refused++;
    }

    /// The change of the counts by the refused rows. Each record counts once, by its last fate.
    Counts refusedCounts() {
        return new Counts(-refused, 0, 0, 0, refused);
    }

    private Row translated(Row row) {
        return row.with(derivation.of(row.payload()));
    }

    /// Decides all of the old view's letters.
    void decide() {
        List<DeadLetter> page = old.letters.list(0, PAGE);
        while (!page.isEmpty()) {
            for (DeadLetter letter : page) {
                decide(letter);
                fresh.checkpoints.takeIfDue();
                space.requireOpen();
            }
            page = old.letters.list(page.getLast().id(), PAGE);
        }
    }

    private void decide(DeadLetter letter) {
        if (!letter.kept()) {
            return;
        }
        boolean isReadable = takeColumns(letter.place().source());
        byte[] edit = isReadable ? old.letters.settledEdit(letter.id()) : null;
        byte[] record = edit == null ? old.letters.record(letter.id()) : edit;
        if (letter.content() == DeadLetter.Content.SUMMARY && edit == null) {
            RowSummary.read(record, old.pipeline, letter.place()).ifPresent(row -> decide(letter, row));
            return;
        }
        if (!isReadable) {
            return;
        }
        RecordKind kind = edit == null ? old.letters.kind(letter.id()) : RecordKind.SENT;
        Malformed malformed =
                decoder.decode(kind, Arrays.copyOf(record, record.length + Decoder.PADDING), 0, record.length);
        if (malformed == null) {
            Entry.Redrive again = new Entry.Redrive(
                    letter.id(),
                    letter.place(),
                    letter.at().toEpochMilli(),
                    fresh.letters.idNext(),
                    Entry.Settles.REJECTED,
                    kind,
                    record);
            fresh.commits.refold(again, letter.id());
        } else {
            if (!malformed.message().equals(letter.message())) {
                reject(letter, malformed, decoder.event().identity(), record, DeadLetter.Content.RECORD);
            }
        }
    }

    private void reject(
            DeadLetter letter, Malformed malformed, RecordIdentity identity, byte[] kept, DeadLetter.Content content) {
        if (letter.reason() == Reason.CONFLICT) {
            fresh.state.count(CONFLICTING.plus(REJECTED));
        }
        fresh.letters.decide(
                malformed,
                identity,
                new Rejected(letter.id(), letter.place(), kept, letter.at(), old.letters.kind(letter.id())),
                content);
    }

    /// Takes the columns of a source, if the format has a header; false if its header is not one of this pipeline.
    private boolean takeColumns(String name) {
        if (!Decoder.wantsHeader(fresh.pipeline)) {
            return true;
        }
        if (!name.equals(headed)) {
            Source source = fresh.state.sources.find(name);
            byte[] header = source == null ? new byte[0] : source.header();
            hasColumns = header.length > 0 && decoder.header(header, 0, header.length) == null;
            headed = name;
        }
        return hasColumns;
    }

    /// Decides a letter that holds the values that an old definition read of a record: the record lost a
    /// conflict, or the next definition refused it.
    private void decide(DeadLetter letter, Row row) {
        Optional<Malformed> refusal = derivation.refusal(row.payload());
        if (refusal.isPresent()) {
            byte[] kept = RowSummary.of(translated(row), fresh.pipeline); // The next definition reads it by this one.
            reject(letter, refusal.get(), RecordIdentity.NONE, kept, DeadLetter.Content.SUMMARY);
            return;
        }
        boolean hadLost = letter.reason() == Reason.CONFLICT;
        fresh.state.count(hadLost ? CONFLICTING : NOT_REJECTED);
        Row arrived = translated(row);
        RowBatch batch = new RowBatch();
        Source source = fresh.state.sources.findOrAdd(row.source(), Source.Kind.LINES);
        batch.add(arrived, fresh.pipeline, fresh.state.groups, source.number());
        if (fresh.state.forgets) {
            batch.time(letter.at().plus(Horizon.AHEAD_MAX).toEpochMilli()); // No accepted record is of a later time.
        }
        boolean[] stays = new boolean[1];
        fresh.applyTranslated(totals, batch, settled -> stays[0] = keepLoser(letter, settled));
        if (!stays[0]) {
            fresh.letters.remove(letter.id());
        }
    }

    /// Keeps the loser; whether it is the letter that was decided.
    private boolean keepLoser(DeadLetter letter, Transition.Settled settled) {
        ConflictLetter lost = ConflictLetter.of(settled, fresh.pipeline);
        return fresh.letters.addConflict(
                letter.reason() == Reason.CONFLICT ? lost.saying(letter.message()) : lost,
                settled.arrivedStays() ? 0 : letter.id(),
                new Place(settled.loser().source(), 0, settled.loser().offset()),
                letter.at(),
                RecordKind.SENT);
    }
}
