package dev.onefold.embedded.fold;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.letter.RowSummary;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.letters.Rejected;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.RowTranslator;
import dev.onefold.embedded.rows.Shard;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Fills totals from the rows and dead letters of another definition. First it translates the rows; then it
/// decides the letters again. The old definition refused their records, so no row holds them; the new one may
/// accept them. Order does not matter: versions, ids and contributions decide, as when all records come again.
final class TotalsFill {
    private static final int PAGE = 1_000;
    private static final Counts CONFLICTING = new Counts(0, 0, 0, -1, 0);
    private static final Counts REJECTED = new Counts(0, 0, 0, 0, 1);
    private static final Counts NOT_REJECTED = new Counts(0, 0, 0, 0, -1);

    private final ShardFold.Filling from;
    private final Pipeline oldPipeline;
    private final Letters oldLetters;
    private final TotalsFold totals;
    private final State state;
    private final Letters letters;
    private final InstantSource clock;
    private final Derivation.Possible derivation;
    private final Decoder decoder;
    private @Nullable String headed;
    private boolean hasColumns;
    private long refused;

    TotalsFill(ShardFold.Filling from, TotalsFold totals, Letters letters, InstantSource clock) {
        this.from = from;
        oldPipeline = from.state().pipeline;
        oldLetters = from.letters();
        this.totals = totals;
        state = totals.state();
        this.letters = letters;
        this.clock = clock;
        derivation = (Derivation.Possible) Derivation.of(oldPipeline, state.pipeline);
        decoder = new Decoder(state.pipeline);
    }

    void fill() {
        State old = from.state();
        state.saw(old.seenMs());
        RowTranslator translator = new RowTranslator(
                new RowTranslator.Translated(oldPipeline, state.pipeline, old.sources::name, nowMs()),
                old.groups,
                state.groups,
                derivation,
                this::refuse);
        for (Shard shard : old.shards) {
            translator.translate(shard, batch -> {
                totals.apply(batch, _ -> {
                    throw new IllegalStateException("A key has two rows");
                });
                from.between().run();
            });
        }
        totals.resetCounts();
        state.count(new Counts(-refused, 0, 0, 0, refused)); // Each record counts once, by its last fate.
        decide();
    }

    private long nowMs() {
        return clock.instant().toEpochMilli();
    }

    /// Makes a letter of a row that the new definition refuses, from the values that are kept of its record.
    private void refuse(Row row) {
        Malformed malformed = derivation.refusal(row.payload()).orElseThrow();
        Row kept = translated(row);
        letters.add(
                malformed,
                RecordIdentity.NONE,
                new Rejected(
                        0,
                        new Place(row.source(), 0, row.offset()),
                        RowSummary.of(kept, state.pipeline),
                        clock.instant(),
                        RecordKind.SENT),
                DeadLetter.Content.SUMMARY);
        refused++;
    }

    private Row translated(Row row) {
        return row.with(derivation.of(row.payload()));
    }

    /// Decides all of the old letters.
    private void decide() {
        List<DeadLetter> page = oldLetters.list(0, PAGE);
        while (!page.isEmpty()) {
            for (DeadLetter letter : page) {
                decide(letter);
                from.between().run();
            }
            page = oldLetters.list(page.getLast().id(), PAGE);
        }
    }

    private void decide(DeadLetter letter) {
        if (!letter.kept()) {
            return;
        }
        boolean isReadable = takeColumns(letter.place().source());
        byte[] edit = isReadable ? oldLetters.settledEdit(letter.id()) : null;
        byte[] record = edit == null ? oldLetters.record(letter.id()) : edit;
        if (letter.content() == DeadLetter.Content.SUMMARY && edit == null) {
            RowSummary.read(record, oldPipeline, letter.place()).ifPresent(row -> decide(letter, row));
            return;
        }
        if (!isReadable) {
            return;
        }
        RecordKind kind = edit == null ? oldLetters.kind(letter.id()) : RecordKind.SENT;
        Malformed malformed =
                decoder.decode(kind, Arrays.copyOf(record, record.length + Decoder.PADDING), 0, record.length);
        if (malformed == null) {
            Entry.Redrive again = new Entry.Redrive(
                    letter.id(),
                    letter.place(),
                    letter.at().toEpochMilli(),
                    letters.idNext(),
                    Entry.Settles.REJECTED,
                    kind,
                    record);
            from.refold().accept(again);
        } else {
            if (!malformed.message().equals(letter.message())) {
                reject(letter, malformed, decoder.event().identity(), record, DeadLetter.Content.RECORD);
            }
        }
    }

    private void reject(
            DeadLetter letter, Malformed malformed, RecordIdentity identity, byte[] kept, DeadLetter.Content content) {
        if (letter.reason() == Reason.CONFLICT) {
            state.count(CONFLICTING.plus(REJECTED));
        }
        letters.decide(
                malformed,
                identity,
                new Rejected(letter.id(), letter.place(), kept, letter.at(), oldLetters.kind(letter.id())),
                content);
    }

    /// Takes the columns of a source, if the format has a header; false if its header is not one of this
    /// pipeline.
    private boolean takeColumns(String name) {
        if (!Decoder.wantsHeader(state.pipeline)) {
            return true;
        }
        if (!name.equals(headed)) {
            Source source = state.sources.find(name);
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
            byte[] kept = RowSummary.of(translated(row), state.pipeline); // The next definition reads it by this one.
            reject(letter, refusal.get(), RecordIdentity.NONE, kept, DeadLetter.Content.SUMMARY);
            return;
        }
        boolean hadLost = letter.reason() == Reason.CONFLICT;
        state.count(hadLost ? CONFLICTING : NOT_REJECTED);
        Row arrived = translated(row);
        RowBatch batch = new RowBatch();
        Source source = state.sources.findOrAdd(row.source(), Source.Kind.LINES);
        batch.add(arrived, state.pipeline, state.groups, source.number());
        if (state.forgets || state.keep.isPresent()) {
            batch.time(latestMs(letter, arrived));
        }
        boolean[] stays = new boolean[1];
        totals.apply(batch, settled -> stays[0] = keepLoser(letter, settled));
        if (!stays[0]) {
            letters.remove(letter.id());
        }
    }

    /// A time that the record of a letter is not behind: with a horizon no accepted record is of a later time
    /// than a day after its letter, and with `keep` none is in a later bucket than its groups.
    private long latestMs(DeadLetter letter, Row row) {
        long latestMs = letter.at().plus(Horizon.AHEAD_MAX).toEpochMilli();
        List<Tuple> groups = row.payload().groups();
        for (int rollup = 0; state.keep.isPresent() && rollup < groups.size(); rollup++) {
            latestMs = Math.max(latestMs, state.keep.get().startMs(rollup, groups.get(rollup)));
        }
        return state.keep.isPresent() ? Math.max(latestMs, state.seenMs()) : latestMs;
    }

    /// Keeps the loser; whether it is the letter that was decided.
    private boolean keepLoser(DeadLetter letter, Transition.Settled settled) {
        ConflictLetter lost = ConflictLetter.of(settled, state.pipeline);
        return letters.addConflict(
                letter.reason() == Reason.CONFLICT ? lost.saying(letter.message()) : lost,
                settled.arrivedStays() ? 0 : letter.id(),
                new Place(settled.loser().source(), 0, settled.loser().offset()),
                letter.at(),
                RecordKind.SENT);
    }
}
