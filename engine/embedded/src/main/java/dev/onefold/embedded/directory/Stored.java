package dev.onefold.embedded.directory;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.guard.Space;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The content of a data directory when it is opened: the view that serves, its checkpoint, and the entries of
/// the journal behind the checkpoint.
///
/// @param current the view that serves; its number is 0 if none does yet
/// @param lock of the owner; `null` for a reader, which may change nothing on the disk
public record Stored(
        Current current,
        @Nullable Checkpoint checkpoint,
        Journal journal,
        List<Entry> replayed,
        @Nullable DirectoryLock lock) {
    private static final int READS_MAX = 20;

    /// The settings of an owner for its directory.
    ///
    /// @param keepJournal whether the journal is kept for ever
    /// @param random source of the identity of a new directory
    public record Wish(boolean keepJournal, RandomGenerator random) {}

    /// Reads a directory for its owner. Abandoned files are deleted, and all that can be read is made durable.
    public static Stored own(Path root, Wish wish, DirectoryLock lock, Space space) {
        DirectoryReset.finish(root, lock, space);
        FileNames.deleteUnfinishedContents(root);
        Current named = Current.read(root);
        Current current = named == null ? begun(root, wish) : named;
        Checkpoint checkpoint = checkpoint(root, current);
        if (named == null) {
            Disk.forceAncestors(root);
        } else {
            Journal.requireMark(root);
            named.write(root, space);
        }
        FileNames.deleteOtherViews(
                root, current.number()); // Only now: a flipped bit in a name must not lead to the deletion of a view.
        List<Entry> replayed = new ArrayList<>();
        Journal journal = space.await(() -> {
            replayed.clear();
            return Journal.open(
                    root, current.identity(), position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
        });
        try {
            Stored stored = new Stored(current, checkpoint, journal, replayed, lock);
            stored.keepJournal(root, wish, space);
            return stored;
        } catch (RuntimeException | Error e) {
            journal.close();
            throw e;
        }
    }

    /// A directory that is about to be made. If a process was killed while it made the directory, the
    /// identity is in use already.
    private static Current begun(Path root, Wish wish) {
        Long given = Journal.identity(root);
        return new Current(0, given == null ? wish.random().nextLong() : given, wish.keepJournal());
    }

    /// The directory remembers whether its journal is kept. A later wish to keep it is of use only while
    /// nothing was deleted.
    private void keepJournal(Path root, Wish wish, Space space) {
        boolean kept = current.journalKept();
        if (kept) {
            journal.requireWhole();
        }
        if (wish.keepJournal() && !kept) {
            if (!journal.isWhole()) {
                throw new EngineException(
                        EngineException.Kind.DEFINITION_CHANGED,
                        "The journal of " + root + " was not kept from the first record on, and its beginning is gone;"
                                + " totals could not be recomputed from the rest. Go on without --keep-journal, or fold"
                                + " into a new data directory with it.");
            }
            kept = true;
            if (checkpoint != null) {
                new Current(current.number(), current.identity(), true).write(root, space);
            }
        }
        journal.keep(kept);
    }

    /// Reads a directory for a reader, which owns nothing and changes nothing. An owner may be at work
    /// meanwhile: checkpoint and journal are those of one moment.
    public static Stored read(Path root) {
        return besideAnOwner(root, () -> {
            byte[] before = mark(root);
            requireNotEmptied(root);
            Current current = Current.read(root);
            if (current == null) {
                throw noData(root);
            }
            Checkpoint checkpoint = checkpoint(root, current);
            Journal.requireMark(root);
            List<Entry> replayed = new ArrayList<>();
            Journal journal = Journal.read(
                    root, current.identity(), position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
            journal.keep(current.journalKept());
            if (journal.isKept()) {
                journal.requireWhole();
            }
            if (!Arrays.equals(before, mark(root))) {
                journal.close();
                throw DirectoryLock.inUse(root);
            }
            return new Stored(current, checkpoint, journal, replayed, null);
        });
    }

    /// Reads again when it fails because an owner has replaced files meanwhile.
    public static <T> T besideAnOwner(Path root, Supplier<T> reading) {
        for (int reads = 1; ; reads++) {
            byte[] before = mark(root);
            try {
                return reading.get();
            } catch (EngineException e) {
                if (reads == READS_MAX || Arrays.equals(before, mark(root))) {
                    throw e; // No file was replaced: a damaged file stays damaged.
                }
            }
        }
    }

    /// Requires that a directory holds data.
    public static void requireData(Path root) {
        if (!Disk.isFolder(root)) {
            throw noData(root);
        }
        FileNames.requireOurs(root);
        requireNotEmptied(root);
        if (!FileNames.hasData(root)) {
            Current.read(root); // Says so if only the name of the view is gone.
            throw DirectoryLock.isHeld(root) ? DirectoryLock.inUse(root) : noData(root);
        }
    }

    /// Nothing is read of a directory of which a part is deleted.
    private static void requireNotEmptied(Path root) {
        if (DirectoryReset.begun(root).isPresent()) {
            throw DirectoryLock.isHeld(root)
                    ? DirectoryLock.inUse(root)
                    : new EngineException(
                            EngineException.Kind.DEFINITION_CHANGED,
                            "A reset of " + root + " was interrupted, and a part of its data is deleted. Run 'onefold"
                                    + " reset' again, which deletes the rest; so does the next 'onefold run'.");
        }
    }

    /// Requires of a reader that the directory was not emptied while it read: a deleted file may look like
    /// one that was never there.
    public void requireUnchanged(Path root) {
        requireNotEmptied(root);
        Current now = Current.read(root);
        if (now == null || now.identity() != identity()) {
            throw noData(root);
        }
    }

    public boolean reading() {
        return lock == null;
    }

    /// Requires of an owner that the directory is still its own.
    public void requireOwned() {
        if (lock != null) {
            lock.requireHeld();
        }
    }

    public long identity() {
        return current.identity();
    }

    public static EngineException noData(Path root) {
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED, "There is no data in " + root + ". Fold some input first.");
    }

    private static @Nullable Checkpoint checkpoint(Path root, Current current) {
        if (current.number() == 0) {
            return null;
        }
        Path view = FileNames.view(root, current.number());
        Checkpoint checkpoint = Checkpoint.read(view);
        if (checkpoint == null) {
            throw Disk.corrupt(view.resolve("CHECKPOINT"), 0, "the file is gone");
        }
        if (checkpoint.identity() != current.identity()) {
            throw FileHeader.otherDirectory(view.resolve("CHECKPOINT"));
        }
        return checkpoint;
    }

    private static Journal.Position position(@Nullable Checkpoint checkpoint) {
        return checkpoint == null ? Journal.Position.START : checkpoint.journal();
    }

    /// Bytes that change with each checkpoint. While they are equal, no file that the checkpoint names was
    /// deleted.
    private static byte[] mark(Path root) {
        byte[] emptying = DirectoryReset.begun(root).orElse("").getBytes(StandardCharsets.UTF_8);
        if (!FileNames.hasData(root)) {
            return emptying;
        }
        byte[] current = join(emptying, Disk.readAll(root.resolve("CURRENT")));
        for (Path view : FileNames.list(root, FileNames::isView)) {
            Path checkpoint = view.resolve("CHECKPOINT");
            try {
                if (Files.exists(checkpoint)) {
                    current = join(current, Disk.readAll(checkpoint));
                }
            } catch (EngineException e) {
                if (Files.exists(checkpoint)) {
                    throw e;
                }
            }
        }
        return current;
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
