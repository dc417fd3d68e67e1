package dev.onefold.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.event.Version;
import dev.onefold.core.letter.Edits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.commit.Request;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.intake.Submissions;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.view.View;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The dead letters for the verbs; changes go through the journal.
final class LetterBox implements DeadLetters {
    private final Supplier<View> view;
    private final OwnThread own;
    private final Guard guard;
    private final Runnable requireView;
    private final Function<Request, Request> commit;
    private final Runnable checkpoint;

    LetterBox(
            Supplier<View> view,
            View.Opening opening,
            Runnable requireView,
            Function<Request, Request> commit,
            Runnable checkpoint) {
        this.view = view;
        own = opening.own();
        guard = opening.guard();
        this.requireView = requireView;
        this.commit = commit;
        this.checkpoint = checkpoint;
    }

    /// A letter of a fold that a crash takes back comes again, perhaps under another id: an entry of the
    /// journal about it would be lost, or hit another letter. So it is in a checkpoint first.
    private void requireDurable(List<Long> ids) {
        boolean durable = guard.locked(() -> ids.stream().allMatch(view.get().letters::isDurable));
        if (!durable) {
            checkpoint.run();
        }
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        if (limit < 0) {
            throw new IllegalArgumentException("The limit is " + limit + "; it is at least 0");
        }
        return read(letters -> letters.list(after, limit));
    }

    @Override
    public long size() {
        return guard.reading(() -> view.get().letters.size());
    }

    @Override
    public byte[] record(long id) {
        return read(letters -> letters.record(id));
    }

    @Override
    public Optional<byte[]> edited(long id) {
        return read(letters -> Optional.ofNullable(letters.edited(id)));
    }

    /// Reads the log of the letters, on the engine's own thread.
    private <T extends @Nullable Object> T read(Function<Letters, T> reading) {
        return own.call(() -> guard.reading(() -> reading.apply(view.get().letters)));
    }

    @Override
    public List<OfKey> ofKey(List<String> key, int limit) {
        List<String> parts = Submissions.given(key, "The parts of the key");
        DeadLetters.requireKeyLimit(limit);
        return read(letters -> {
            Pipeline pipeline = view.get().pipeline;
            byte[] bytes = Key.bytes(pipeline, parts);
            List<OfKey> found = new ArrayList<>();
            for (long id : letters.ofKeyHash(new RecordIdentity(bytes, null).keyHash())) {
                DeadLetter letter = Objects.requireNonNull(letters.letter(id));
                RecordIdentity stated = stated(letter, letters.record(id), letters.kind(id));
                if (stated.isOf(bytes) && found.size() < limit) {
                    found.add(new OfKey(letter, Version.of(pipeline, stated)));
                }
            }
            return found;
        });
    }

    private RecordIdentity stated(DeadLetter letter, byte[] kept, RecordKind kind) {
        Optional<RecordIdentity> stated =
                letter.content() == DeadLetter.Content.SUMMARY ? view.get().fold.stated(kept) : Optional.empty();
        return stated.orElseGet(() -> decoder(letter).identity(kind, kept));
    }

    /// A letter, the content that is kept of its record, and the decoder for an edit of it.
    private record Found(DeadLetter letter, byte[] content, Decoder decoder, RecordKind kind) {}

    @Override
    public Redriven redrive(long id, byte @Nullable [] edited, Keys keys) {
        Objects.requireNonNull(keys, "Whether another key is allowed is null");
        if (edited != null && !isOfLog(id)) {
            requireOneLine(id, edited);
        }
        requireView.run();
        requireDurable(List.of(id));
        Found found = read(letters -> {
            DeadLetter letter = letters.letter(id);
            byte[] content = letter == null || !letter.kept() ? new byte[0] : letters.record(id);
            return letter == null ? null : new Found(letter, content, decoder(letter), letters.kind(id));
        });
        if (found == null) {
            return Redriven.GONE;
        }
        if (edited == null && found.letter.content() != DeadLetter.Content.RECORD) {
            return Redriven.NO_RECORD;
        }
        if (edited != null) {
            Edits.require(found.letter, found.content, edited, found.decoder, keys);
        }
        byte[] record = edited == null ? found.content : edited.clone();
        RecordKind kind = edited == null ? found.kind : RecordKind.SENT;
        Entry.Redrive redrive =
                new Entry.Redrive(id, found.letter.place(), Long.MIN_VALUE, 0, Entry.Settles.NOTHING, kind, record);
        return commit.apply(Request.redrive(redrive)).redriven();
    }

    /// A record of a log or a message may hold any byte.
    private boolean isOfLog(long id) {
        return read(letters -> {
            DeadLetter letter = letters.letter(id);
            String place = letter == null ? "" : letter.place().source();
            Source source = view.get().state.sources.ofPlace(place);
            boolean isMessage = source != null && !source.name().equals(place);
            return source != null && (isMessage || source.kind() == Source.Kind.PARTITION);
        });
    }

    /// A record of CSV may have line ends in quotes.
    private void requireOneLine(long id, byte[] edited) {
        if (RecordEnds.of(view.get().pipeline).end(edited, 0, edited.length) >= 0) {
            throw new IllegalArgumentException(
                    "Dead letter " + id + " is one record, and so one line; it was edited to hold a line end");
        }
    }

    private Decoder decoder(DeadLetter letter) {
        Decoder decoder = new Decoder(view.get().pipeline);
        Source source = view.get().state.sources.find(letter.place().source());
        if (source != null && source.header().length > 0) {
            decoder.header(source.header(), 0, source.header().length);
        }
        return decoder;
    }

    @Override
    public int purge(List<Long> ids) {
        List<Long> purged = Submissions.given(ids, "The ids of the letters");
        if (purged.isEmpty()) {
            return 0;
        }
        requireView.run();
        requireDurable(purged);
        return commit.apply(Request.purge(purged)).removed();
    }
}
