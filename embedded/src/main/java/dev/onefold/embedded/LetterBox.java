package dev.onefold.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Letters;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The dead letters as the verbs see them; changes go through the journal.
final class LetterBox implements DeadLetters {
    private final Supplier<Letters> letters;
    private final OwnThread own;
    private final Guard guard;
    private final Function<Commits.Request, Commits.Request> commit;
    private final Runnable checkpoint;

    LetterBox(
            Supplier<Letters> letters,
            View.Opening opening,
            Function<Commits.Request, Commits.Request> commit,
            Runnable checkpoint) {
        this.letters = letters;
        own = opening.own();
        guard = opening.guard();
        this.commit = commit;
        this.checkpoint = checkpoint;
    }

    /// A letter of a fold that a crash takes back comes again, perhaps under another id: what is said about it
    /// in the journal would be lost, or hit another letter. So it is in a checkpoint first.
    private void requireDurable(List<Long> ids) {
        boolean durable = guard.locked(() -> ids.stream().allMatch(letters.get()::isDurable));
        if (!durable) {
            checkpoint.run();
        }
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        if (limit < 0) {
            throw new IllegalArgumentException("The limit is " + limit + "; it is at least 0");
        }
        return guard.reading(() -> letters.get().list(after, limit));
    }

    @Override
    public long size() {
        return guard.reading(() -> letters.get().size());
    }

    @Override
    public byte[] record(long id) {
        DeadLetter[] letter = new DeadLetter[1];
        byte[] record = own.call(() -> guard.reading(() -> {
            letter[0] = letters.get().letter(id);
            return letter[0] == null || !letter[0].kept() ? null : letters.get().record(id);
        }));
        if (record == null) {
            throw new IllegalArgumentException(
                    letter[0] == null ? "There is no dead letter " + id : Letters.notKept(letter[0]));
        }
        return record;
    }

    @Override
    public Redriven redrive(long id, byte @Nullable [] edited) {
        if (edited != null) {
            requireOneLine(id, edited);
        }
        requireDurable(List.of(id));
        DeadLetter[] letter = new DeadLetter[1];
        byte[] record = own.call(() -> guard.reading(() -> {
            letter[0] = letters.get().letter(id);
            return edited != null || letter[0] == null || !letter[0].kept()
                    ? edited
                    : letters.get().record(id);
        }));
        if (letter[0] == null) {
            return Redriven.GONE;
        }
        if (record == null) {
            throw new IllegalArgumentException(Letters.notKept(letter[0]));
        }
        return commit.apply(Commits.Request.of(new Entry.Redrive(id, letter[0].place(), Long.MIN_VALUE, record)))
                .redriven;
    }

    private static void requireOneLine(long id, byte[] edited) {
        for (byte one : edited) {
            if (one == '\n') {
                throw new IllegalArgumentException(
                        "Dead letter " + id + " is one record, and so one line; it was edited to hold a line end");
            }
        }
    }

    @Override
    public int purge(List<Long> ids) {
        List<Long> purged = Submissions.given(ids, "The ids of the letters");
        if (purged.isEmpty()) {
            return 0;
        }
        requireDurable(purged);
        return commit.apply(Commits.Request.of(new Entry.Purge(purged))).removed;
    }
}
