package dev.onefold.simulator.deployment;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// What people do with dead letters while records come, several at once, perhaps with the same letter: list, read,
/// redrive, with an edit or without, and purge. It knows what must have come of it, and of what got no answer what may.
final class LetterOperator {
    private static final int LISTED_MAX = 50;
    private static final int DOUBTS_MAX = 3;

    private final List<byte[]> edits;
    private final boolean pipelineChanges;
    private final SplittableRandom random;
    private final List<String> story;
    /// Letters that hold what was read of a record, or where it was, and not the record.
    private final Set<Long> indirect = new HashSet<>();
    private final Map<String, List<byte[]>> sent = new HashMap<>();
    private final Set<Long> losers = new HashSet<>();
    private final Set<String> removed = new HashSet<>();
    private final Set<String> perhapsLost = new HashSet<>();
    private final List<Attempt> doubts = new ArrayList<>();
    private final List<Attempt> taken = new ArrayList<>();
    private boolean resting;
    private int working;
    private final boolean spares;
    private final Decoder decoder;
    /// The keys of letters of conflicts, where the pipeline changes; empty of one that was gone when it was read.
    private final Map<Long, List<String>> keys = new HashMap<>();

    /// Something that is done to a letter. No two are equal.
    private static final class Attempt {
        private final long id;
        private final String source;
        private final long line;
        private final byte @Nullable [] record;

        Attempt(DeadLetter letter, byte @Nullable [] record) {
            id = letter.id();
            source = letter.place().source();
            line = letter.place().line();
            this.record = record;
        }
    }

    /// A record that somebody has put into the place of a letter's.
    ///
    /// @param isTaken it was answered that it is an event
    record Edited(String source, long line, byte[] record, boolean isTaken) {}

    /// @param edits what records are replaced by
    /// @param pipeline that was deployed first. A letter of an event to it is left alone if a release
    ///     may refuse the event: the next one may take it
    /// @param releases if there are several, who loses a conflict again may be another letter
    LetterOperator(
            List<byte[]> edits, Pipeline pipeline, Releases releases, SplittableRandom random, List<String> story) {
        pipelineChanges = releases.areSeveral();
        spares = releases.narrow();
        decoder = new Decoder(pipeline);
        Decoder decoder = new Decoder(pipeline);
        // An empty edit is refused, and so is one that tells of no row.
        this.edits = edits.stream()
                .filter(edit -> !isBlank(edit) && !decoder.isSilent(edit))
                .toList();
        this.random = random;
        this.story = story;
    }

    /// Whether a letter is of an event that the pipeline which serves now refuses.
    private boolean isSpared(DeadLetters letters, DeadLetter letter) {
        if (!spares || isIndirect(letter) || indirect.contains(letter.id())) {
            return false;
        }
        if (letter.content() == DeadLetter.Content.SUMMARY) {
            return true;
        }
        byte[] record;
        try {
            record = letters.record(letter.id());
        } catch (IllegalArgumentException gone) {
            return true;
        }
        byte[] padded = Arrays.copyOf(record, record.length + Decoder.PADDING);
        return decoder.decode(padded, 0, record.length) == null;
    }

    static String place(DeadLetter letter) {
        return letter.place().source() + ":" + letter.place().line();
    }

    private static boolean isBlank(byte[] record) {
        return new String(record, StandardCharsets.ISO_8859_1).chars().allMatch(c -> c <= ' ');
    }

    /// A letter whose edit has lost a conflict keeps its own record beside the edit. Nobody edits another letter of a
    /// conflict.
    private static boolean isIndirect(DeadLetter letter) {
        return letter.reason() == Reason.CONFLICT && !letter.edited() || isForgotten(letter);
    }

    /// Whether it names records that the stream has forgotten.
    private static boolean isForgotten(DeadLetter letter) {
        return letter.reason() == Reason.TOO_OLD && letter.content() == DeadLetter.Content.SUMMARY;
    }

    /// Nobody begins anything more until all are to [work][#resume()] again.
    void rest() {
        resting = true;
    }

    void resume() {
        resting = false;
    }

    /// Whether nobody is in the middle of anything.
    boolean isIdle() {
        return working == 0;
    }

    /// Does one thing.
    void work(DeadLetters letters) {
        if (resting) {
            return;
        }
        working++;
        try {
            workOn(letters);
        } finally {
            working--;
        }
    }

    private void workOn(DeadLetters letters) {
        List<DeadLetter> listed = letters.list(random.nextInt(4) == 0 ? random.nextInt(LISTED_MAX) : 0, LISTED_MAX);
        for (DeadLetter letter : listed) {
            if (isIndirect(letter) && !indirect.contains(letter.id())) {
                see(letters, letter);
                losers.add(letter.id());
            }
        }
        if (listed.isEmpty() || resting) {
            return;
        }
        DeadLetter letter = listed.get(random.nextInt(listed.size()));
        if (isSpared(letters, letter)) {
            story.add("redriven as it is " + letter.id() + ": "
                    + letters.redrive(letter.id(), null, DeadLetters.Keys.ANY));
            return;
        }
        boolean mayEdit = !indirect.contains(letter.id()) && doubts.size() < DOUBTS_MAX && !edits.isEmpty();
        switch (random.nextInt(5)) {
            case 0 -> purge(letters, letter);
            case 1 -> redrive(letters, letter, null);
            case 2 -> read(letters, letter);
            default -> redrive(letters, letter, mayEdit ? edits.get(random.nextInt(edits.size())) : null);
        }
    }

    private static void read(DeadLetters letters, DeadLetter letter) {
        try {
            letters.record(letter.id());
        } catch (IllegalArgumentException gone) {
            if (letters.list(letter.id() - 1, 1).stream().anyMatch(other -> other.id() == letter.id())) {
                throw gone; // Nobody has removed it.
            }
        }
    }

    private void purge(DeadLetters letters, DeadLetter letter) {
        Attempt attempt = new Attempt(letter, null);
        doubts.add(attempt);
        letters.purge(List.of(letter.id()));
        doubts.remove(attempt);
        remove(letter);
        story.add("purged " + letter.id());
    }

    private void redrive(DeadLetters letters, DeadLetter letter, byte @Nullable [] edit) {
        Attempt attempt = new Attempt(letter, edit);
        doubts.add(attempt);
        if (edit != null) {
            sent.computeIfAbsent(place(letter), _ -> new ArrayList<>()).add(edit);
        }
        Redriven redriven = letters.redrive(letter.id(), edit, DeadLetters.Keys.ANY);
        doubts.remove(attempt);
        story.add("redriven " + letter.id() + (edit == null ? "" : " with an edit") + ": " + redriven);
        boolean isIndirect = indirect.contains(letter.id());
        switch (redriven) {
            case GONE, REJECTED, NO_RECORD -> {}
            case ACCEPTED, DUPLICATE, CONFLICTING -> {
                if (edit != null && redriven == Redriven.CONFLICTING) {
                    perhapsLost.add(
                            place(letter)); // An edit that has won removes its letter; one that has lost does not.
                } else if (!isIndirect || pipelineChanges) {
                    // A loser stays the letter that it is: it may lose again to what is not in yet.
                    remove(letter);
                }
            }
            case STALE -> remove(letter);
        }
        boolean isTaken = redriven != Redriven.GONE && redriven != Redriven.REJECTED && redriven != Redriven.NO_RECORD;
        if (isTaken && edit == null && !isIndirect) {
            throw new AssertionError("What was rejected is " + redriven + " as it is: " + letter);
        }
        if (isTaken && edit != null) {
            taken.add(attempt);
        }
    }

    private void remove(DeadLetter letter) {
        losers.remove(letter.id());
        if (!indirect.contains(letter.id())) {
            removed.add(place(letter));
        }
    }

    /// The edits that are among the events now: those that are for certain, with each choice of those that may be.
    List<List<Edited>> possible() {
        List<Attempt> open =
                doubts.stream().filter(attempt -> attempt.record != null).toList();
        List<List<Edited>> possible = new ArrayList<>();
        for (int choice = 0; choice < 1 << open.size(); choice++) {
            List<Edited> edited = new ArrayList<>();
            taken.forEach(attempt -> edited.add(edited(attempt, true)));
            for (int i = 0; i < open.size(); i++) {
                if ((choice >> i & 1) == 1) {
                    edited.add(edited(open.get(i), false));
                }
            }
            possible.add(edited);
        }
        return possible;
    }

    private static Edited edited(Attempt attempt, boolean isTaken) {
        byte[] record = Objects.requireNonNull(attempt.record, "Only edits are asked for");
        return new Edited(attempt.source, attempt.line, record, isTaken);
    }

    private void see(DeadLetters letters, DeadLetter letter) {
        if (pipelineChanges && letter.reason() == Reason.CONFLICT) {
            keys.put(letter.id(), key(letters, letter));
        }
        indirect.add(letter.id());
    }

    /// The key of the record that has lost a conflict; empty if it is gone.
    private List<String> key(DeadLetters letters, DeadLetter letter) {
        byte[] record;
        try {
            record = letters.record(letter.id());
        } catch (IllegalArgumentException gone) {
            return List.of();
        }
        if (letter.content() == DeadLetter.Content.RECORD) {
            byte[] key = decoder.identity(record).key();
            return key == null ? List.of() : Key.parts(decoder.pipeline(), key);
        }
        List<String> key = new ArrayList<>();
        if (JsonText.read(new String(record, StandardCharsets.UTF_8), new Problems()) instanceof Node.Mapping row
                && row.entries().getFirst().value() instanceof Node.Sequence parts) {
            parts.items().forEach(part -> key.add(part instanceof Node.Scalar scalar ? scalar.text() : ""));
        }
        return key;
    }

    /// Whether another letter was seen of a conflict that may be of the same key.
    private boolean hasAnother(long id) {
        List<String> key = keys.get(id);
        return key != null
                && keys.entrySet().stream()
                        .anyMatch(other -> other.getKey() != id
                                && (key.isEmpty()
                                        || other.getValue().isEmpty()
                                        || other.getValue().equals(key)));
    }

    /// What is wrong with the letters that are kept; empty if nothing is.
    ///
    /// @param right the records that were rejected, by place
    /// @param mayHaveForgotten whether the stream may have forgotten records that the retry queue names
    String wrong(DeadLetters letters, Map<String, byte[]> right, boolean mayHaveForgotten) {
        StringBuilder wrong = new StringBuilder();
        Set<String> kept = new HashSet<>();
        Set<String> perhapsRemoved = new HashSet<>(perhapsLost);
        Set<Long> missing = new HashSet<>(losers);
        for (Attempt attempt : doubts) {
            perhapsRemoved.add(attempt.source + ":" + attempt.line);
            missing.remove(attempt.id);
        }
        for (DeadLetter letter : letters.list(0, Integer.MAX_VALUE)) {
            byte[] record = letters.record(letter.id());
            String place = place(letter);
            missing.remove(letter.id());
            if (isIndirect(letter)) {
                see(letters, letter);
            }
            if (isForgotten(letter) && !mayHaveForgotten) {
                wrong.append("dead letter ").append(letter).append(" is of nothing that was forgotten\n");
            }
            if (isIndirect(letter) || indirect.contains(letter.id())) {
                continue; // It may be kept as what was read of it; that it is whole its hash says.
            }
            byte[] original = right.get(place);
            if (original == null || removed.contains(place)) {
                wrong.append("dead letter ").append(letter).append(" must not be there\n");
            } else if (!kept.add(place)) {
                wrong.append("dead letter ").append(letter).append(" is there twice\n");
            } else if (!Arrays.equals(record, original)) {
                wrong.append("the record of dead letter ").append(letter).append(" is another one\n");
            } else if (letters.edited(letter.id())
                    .filter(edit ->
                            sent.getOrDefault(place, List.of()).stream().noneMatch(each -> Arrays.equals(each, edit)))
                    .isPresent()) {
                wrong.append("the edit of dead letter ").append(letter).append(" was never sent\n");
            }
        }
        // Under another pipeline two losers may be the same one, of which one letter is enough.
        missing.removeIf(id -> pipelineChanges && hasAnother(id));
        missing.forEach(id -> wrong.append("dead letter ").append(id).append(", which nobody took care of, is gone\n"));
        for (String place : right.keySet()) {
            boolean mayBeGone = removed.contains(place) || perhapsRemoved.contains(place);
            if (!kept.contains(place) && !mayBeGone) {
                wrong.append("the dead letter from ").append(place).append(" is missing\n");
            }
        }
        return wrong.toString();
    }
}
