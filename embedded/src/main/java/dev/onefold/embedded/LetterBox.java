package dev.onefold.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Letters;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The dead letters as the verbs see them; changes go through the journal.
final class LetterBox implements DeadLetters {
    private final Supplier<Letters> letters;
    private final Locked locked;
    private final Function<Commits.Request, Commits.Request> commit;
    private final Runnable checkpoint;

    /// Does something with the engine's lock held.
    interface Locked {
        <T> T run(Supplier<T> action);
    }

    LetterBox(
            Supplier<Letters> letters,
            Locked locked,
            Function<Commits.Request, Commits.Request> commit,
            Runnable checkpoint) {
        this.letters = letters;
        this.locked = locked;
        this.commit = commit;
        this.checkpoint = checkpoint;
    }

    /// A letter of a fold that a crash takes back comes again, perhaps under another id: what is said about it in the
    /// journal would be lost, or hit another letter. So it is in a checkpoint first.
    private void requireDurable(List<Long> ids) {
        boolean durable = locked.run(() -> ids.stream().allMatch(letters.get()::isDurable));
        if (!durable) {
            checkpoint.run();
        }
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        return locked.run(() -> letters.get().list(after, limit));
    }

    @Override
    public long size() {
        return locked.run(() -> letters.get().size());
    }

    @Override
    public byte[] record(long id) {
        return locked.run(() -> letters.get().record(id));
    }

    @Override
    public Redriven redrive(long id, byte @Nullable [] edited) {
        requireDurable(List.of(id));
        Commits.Request request = locked.run(() -> {
            DeadLetter letter = letters.get().letter(id);
            if (letter == null) {
                return Commits.Request.of(new Entry.Purge(List.of()));
            }
            byte[] record = edited != null ? edited : letters.get().record(id);
            for (byte one : record) {
                if (one == '\n') {
                    throw new IllegalArgumentException(
                            "Dead letter " + id + " is one record, and so one line; it was edited to hold a line end");
                }
            }
            return Commits.Request.of(new Entry.Redrive(id, letter.place(), record));
        });
        return commit.apply(request).redriven;
    }

    @Override
    public int purge(List<Long> ids) {
        if (ids.isEmpty()) {
            return 0;
        }
        requireDurable(ids);
        return commit.apply(Commits.Request.of(new Entry.Purge(ids))).removed;
    }
}
