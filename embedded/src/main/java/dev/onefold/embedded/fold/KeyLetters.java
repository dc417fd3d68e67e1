package dev.onefold.embedded.fold;

import dev.onefold.core.ConflictLetter;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.document.Json;
import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Key;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Version;
import dev.onefold.core.event.VersionBytes;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.Change.Letter;
import dev.onefold.core.shape.Value;
import dev.onefold.embedded.fold.KeyFolding.Note;
import dev.onefold.embedded.letters.EventIdentity;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.source.Records;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Keeps the letters of a round of events that a function has folded, each once for its key, version and content.
/// Called with the engine's lock held.
public final class KeyLetters {
    private static final Counts FAILED_NOW = new Counts(-1, 0, 0, 0, 1);
    private static final Counts FOLDED_NOW = new Counts(1, 0, 0, 0, -1);
    private static final int MEMBERS = 4; // Of a summary.
    private static final Found MISSING = new Found(new Chunk(0), 0, new byte[0]);

    private final State state;
    private final Letters letters;
    private final InstantSource clock;
    private final Map<Place, Found> found = new HashMap<>();

    /// A record of this round.
    ///
    /// @param chunk that it came in
    /// @param line of it in its source
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
        chunks.forEach(this::find);
        for (List<Note> shard : notes) {
            shard.forEach(this::keep);
            shard.clear();
        }
    }

    private static boolean isOfArrived(Note note) {
        return note.letter() != null && note.letter().content() == null;
    }

    private Place place(Note note) {
        return new Place(
                state.sources.name(note.origin().source()), 0, note.origin().offset());
    }

    private void find(Chunk chunk) {
        Records records = chunk.numbered();
        String source = chunk.source.name();
        for (long line = chunk.recordsBefore + 1; records.next(); line++) {
            long at = line;
            found.computeIfPresent(
                    new Place(source, 0, records.place()), (_, _) -> new Found(chunk, at, records.copy()));
        }
    }

    private void keep(Note note) {
        Letter letter = note.letter();
        if (letter == null) {
            withdraw(place(note));
        } else if (letter.content() == null) {
            keepArrived(note, letter);
        } else {
            keepStored(note, letter);
        }
    }

    private void keepArrived(Note note, Letter letter) {
        Place place = place(note);
        Found record = Objects.requireNonNull(found.get(place));
        if (record.line == 0) {
            throw new IllegalStateException("A record that has just arrived is gone: " + place);
        }
        record.chunk.letterStays |= letters.addConflict(
                new ConflictLetter(identity(note, letter), letter.why(), record.record, DeadLetter.Content.RECORD),
                record.chunk.letter,
                new Place(place.source(), record.line, place.offset()),
                clock.instant());
    }

    /// Of an event that was folded before, only its fields are left.
    private void keepStored(Note note, Letter letter) {
        letters.addConflict(
                new ConflictLetter(
                        identity(note, letter), letter.why(), summary(note, letter), DeadLetter.Content.SUMMARY),
                0,
                place(note),
                clock.instant());
        if (letter.why().reason() == Reason.FAILED) {
            state.count(FAILED_NOW);
        }
    }

    /// The event of a place is folded now. Its letter may be purged already.
    private void withdraw(Place place) {
        for (long id : letters.at(place)) {
            DeadLetter letter = Objects.requireNonNull(letters.letter(id));
            if (letter.reason() == Reason.FAILED || letter.reason() == Reason.TOO_LATE) {
                letters.remove(id);
            }
        }
        state.count(FOLDED_NOW);
    }

    private static String identity(Note note, Letter letter) {
        String sha256 = Sha256.hex(new BytesOut()
                .bytes(note.key())
                .bytes(version(letter))
                .bytes(note.content())
                .toBytes());
        return EventIdentity.of(sha256, note.key());
    }

    private static byte[] version(Letter letter) {
        byte[] version = letter.version();
        return version == null ? new byte[0] : version;
    }

    /// What the summary of a letter states.
    ///
    /// @return empty if this is no summary
    public static RecordIdentity stated(Pipeline pipeline, byte[] summary) {
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

    private byte[] summary(Note note, Letter letter) {
        byte[] content = note.content();
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("key", Key.parts(state.pipeline, note.key()));
        summary.put("version", Version.of(state.pipeline, version(letter)).toString());
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
