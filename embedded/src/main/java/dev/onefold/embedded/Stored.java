package dev.onefold.embedded;

import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What a data directory holds when it is opened: the view that serves, its checkpoint, and the entries of the journal
/// behind the checkpoint.
///
/// @param number of the view that serves; 0 if there is none yet
record Stored(Path root, long number, @Nullable Checkpoint checkpoint, Journal journal, List<Entry> replayed) {
    private static final int READS_MAX = 20;

    /// What the owner of a directory finds. Abandoned files are deleted, and what can be read is made durable.
    static Stored own(Path root, Runnable pause) {
        long number = View.current(root);
        Checkpoint checkpoint = checkpoint(root, number);
        if (number == 0) {
            Disk.forceAncestors(root);
        } else {
            View.name(root, number, pause);
        }
        View.deleteOthers(root, number); // Only now: a name with a flipped bit is no reason to delete the right one.
        List<Entry> replayed = new ArrayList<>();
        while (true) {
            try {
                replayed.clear();
                Journal journal =
                        Journal.open(root, position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
                return new Stored(root, number, checkpoint, journal, replayed);
            } catch (OutOfSpaceException e) {
                pause.run();
            }
        }
    }

    /// What a reader finds, who owns nothing and changes nothing. An owner may be at work meanwhile: checkpoint and
    /// journal are those of one moment.
    static Stored read(Path root) {
        return besideAnOwner(root, () -> {
            byte[] before = mark(root);
            long number = View.current(root);
            Checkpoint checkpoint = checkpoint(root, number);
            List<Entry> replayed = new ArrayList<>();
            Journal journal = Journal.read(root, position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
            if (!Arrays.equals(before, mark(root))) {
                journal.close();
                throw DirectoryLock.inUse(root);
            }
            return new Stored(root, number, checkpoint, journal, replayed);
        });
    }

    /// Reads again when it fails because an owner has replaced files meanwhile.
    static <T> T besideAnOwner(Path root, Supplier<T> reading) {
        for (int reads = 1; ; reads++) {
            byte[] before = mark(root);
            try {
                return reading.get();
            } catch (EngineException e) {
                if (reads == READS_MAX || Arrays.equals(before, mark(root))) {
                    throw e; // No file was replaced: what is damaged stays so.
                }
            }
        }
    }

    /// Requires that a directory holds data.
    static void requireData(Path root) {
        if (!Files.isDirectory(root)) {
            throw noData(root);
        }
        FileNames.requireOurs(root);
        if (!FileNames.hasData(root)) {
            View.current(root); // Says so if only the name of the view is gone.
            throw DirectoryLock.isHeld(root) ? DirectoryLock.inUse(root) : noData(root);
        }
    }

    static EngineException noData(Path root) {
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED, "There is no data in " + root + ". Fold some input first.");
    }

    private static @Nullable Checkpoint checkpoint(Path root, long number) {
        if (number == 0) {
            return null;
        }
        Checkpoint checkpoint = Checkpoint.read(View.directory(root, number));
        if (checkpoint == null) {
            throw Disk.corrupt(View.directory(root, number).resolve("CHECKPOINT"), 0, "the file is gone");
        }
        return checkpoint;
    }

    private static Journal.Position position(@Nullable Checkpoint checkpoint) {
        return checkpoint == null ? Journal.Position.START : checkpoint.journal();
    }

    /// What changes with each checkpoint: as long as it is equal, no file was deleted that the checkpoint names.
    private static byte[] mark(Path root) {
        if (!FileNames.hasData(root)) {
            return new byte[0];
        }
        byte[] current = Disk.readAll(root.resolve("CURRENT"));
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
