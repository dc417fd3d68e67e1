package dev.onefold.embedded.fold;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Version;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.fold.KeyFolder.Note;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.letters.EventIdentity;
import dev.onefold.embedded.letters.Letters;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Keeps the letters of a round of events that a function has folded, each once for its key, version and
/// content. Called with the engine's lock held.
final class KeyLetters {
    private static final Counts FAILED_NOW = new Counts(-1, 0, 0, 0, 1);
    private static final Counts FOLDED_NOW = new Counts(1, 0, 0, 0, -1);
    private static final Counts IN_BY_ANOTHER = new Counts(0, 1, 0, 0, -1);
    private static final int MEMBERS = 4; // Of a summary.
    private static final Found MISSING = new Found(new Chunk(0), -1, new byte[0]);

    private final State state;
    private final Letters letters;
    private final InstantSource clock;
    private final Map<Place, Found> found = new HashMap<>();

    /// A record of this round.
    ///
    /// @param chunk the chunk that it came in
    /// @param line its line in its source
    private record Found(Chunk chunk, long line, byte[] record) {}

    KeyLetters(State state, Letters letters, InstantSource clock) {
        this.state = state;
        this.letters = letters;
        this.clock = clock;
    }

    void keep(List<List<Note>> notes, List<Chunk> chunks) {
        if (notes.stream().allMatch(List::isEmpty)) {
            return;
        }
        for (List<Note> shard : notes) {
            shard.stream().filter(KeyLetters::isOfArrived).forEach(note -> found.put(place(note), MISSING));
        }
        if (!found.isEmpty()) {
            chunks.forEach(this::find);
        }
        for (List<Note> shard : notes) {
            shard.forEach(this::keep);
            shard.clear();
        }
    }

    private static boolean isOfArrived(Note note) {
        return note instanceof Note.Kept kept && kept.letter().content() == null;
    }

    private Place place(Note note) {
        return new Place(
                state.sources.name(note.origin().source()), 0, note.origin().offset());
    }

    private void find(Chunk chunk) {
        Records records = chunk.numbered();
        String source = chunk.source.name();
        for (long line = chunk.recordsBefore + 1; records.next(); line += records.lines()) {
            long at = line + records.comments();
            found.computeIfPresent(
                    new Place(source, 0, records.place()), (_, _) -> new Found(chunk, at, records.copy()));
        }
    }

    private void keep(Note note) {
        switch (note) {
            case Note.Withdrawn withdrawn -> withdraw(withdrawn);
            case Note.Kept kept when isOfArrived(kept) -> keepArrived(kept);
            case Note.Kept kept -> keepStored(kept);
        }
    }

    private void keepArrived(Note.Kept note) {
        Place place = place(note);
        Found record = Objects.requireNonNull(found.get(place));
        if (record.line < 0) {
            throw new IllegalStateException("A record that has just arrived is gone: " + place);
        }
        record.chunk.letterStays |= letters.addConflict(
                new ConflictLetter(identity(note), note.letter().why(), record.record, DeadLetter.Content.RECORD),
                record.chunk.letter,
                record.chunk.source.place(record.line, place.offset()),
                clock.instant(),
                RecordKind.SENT);
    }

    /// Of an event that was folded before, only its fields are left.
    private void keepStored(Note.Kept note) {
        letters.addConflict(
                new ConflictLetter(identity(note), note.letter().why(), summary(note), DeadLetter.Content.SUMMARY),
                0,
                place(note),
                clock.instant(),
                RecordKind.SENT);
        if (note.letter().why().reason().isOfStep()) {
            state.recount(FAILED_NOW);
        }
    }

    /// The event is folded now. If it had a letter, that may be purged already.
    private void withdraw(Note.Withdrawn note) {
        boolean hadLetter = note.event().hadLetter();
        if (hadLetter) {
            state.recount(FOLDED_NOW);
        }
        if (letters.size() == 0) {
            return; // No hash is computed for nothing: each late event comes here.
        }
        Set<Long> ids = new TreeSet<>(hadLetter ? letters.at(place(note)) : List.of());
        ids.add(letters.of(identity(note)));
        for (long id : ids) {
            DeadLetter letter = letters.letter(id);
            if (letter != null && letter.reason().mayFoldLater()) {
                letters.remove(id);
                if (!hadLetter) {
                    state.recount(IN_BY_ANOTHER);
                }
            }
        }
    }

    private static String identity(Note note) {
        String sha256 = Sha256.hex(new BytesOut()
                .bytes(note.key())
                .bytes(note.version())
                .bytes(note.content())
                .toBytes());
        return EventIdentity.of(sha256, note.key());
    }

    /// The identity of a record, as the summary of a letter states it.
    ///
    /// @return the identity; empty if the bytes are not a summary
    static RecordIdentity stated(Pipeline pipeline, byte[] summary) {
        Node node = JsonText.read(new String(summary, StandardCharsets.UTF_8), new Problems());
        if (!(node instanceof Node.Mapping mapping)
                || mapping.entries().size() != MEMBERS
                || !(mapping.entries().get(0).value() instanceof Node.Sequence key)
                || !(mapping.entries().get(1).value() instanceof Node.Scalar version)) {
            return RecordIdentity.NONE;
        }
        List<String> parts = key.items().stream()
                .map(part -> part instanceof Node.Scalar scalar ? scalar.text() : "")
                .toList();
        return new RecordIdentity(Key.bytes(pipeline, parts), VersionBytes.of(new BigInteger(version.text())));
    }

    private byte[] summary(Note note) {
        byte[] content = note.content();
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("key", Key.parts(state.pipeline, note.key()));
        summary.put("version", Version.of(state.pipeline, note.version()).toString());
        summary.put("kind", content[0] == 0 ? "filtered" : "counted");
        summary.put(
                "event",
                content[0] == 0
                        ? null
                        : Value.read(Arrays.copyOfRange(content, 1, content.length))
                                .plain());
        return Json.of(summary).getBytes(StandardCharsets.UTF_8);
    }
}
