package dev.onefold.embedded;

import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// What a data directory holds when it is opened: the view that serves, its checkpoint, and the entries of
/// the journal behind the checkpoint.
///
/// @param current which view serves; number 0 if none does yet
/// @param lock of the owner; `null` for a reader, who may change nothing on the disk
record Stored(
        Current current,
        @Nullable Checkpoint checkpoint,
        Journal journal,
        List<Entry> replayed,
        @Nullable DirectoryLock lock) {
    private static final int READS_MAX = 20;

    /// What the owner of a directory finds. Abandoned files are deleted, and what can be read is made durable.
    static Stored own(Path root, Settings settings, DirectoryLock lock) {
        Current named = Current.read(root);
        Current current = named == null ? begun(root, settings) : named;
        Checkpoint checkpoint = checkpoint(root, current);
        if (named == null) {
            Disk.forceAncestors(root);
        } else {
            named.write(root, settings.pause());
        }
        View.deleteOthers(root, current.number()); // Only now: a flipped bit in a name is no reason to delete a view.
        List<Entry> replayed = new ArrayList<>();
        while (true) {
            try {
                replayed.clear();
                Journal journal = Journal.open(
                        root, current.identity(), position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
                Stored stored = new Stored(current, checkpoint, journal, replayed, lock);
                stored.keepJournal(root, settings);
                return stored;
            } catch (OutOfSpaceException e) {
                settings.pause().run();
            }
        }
    }

    /// A directory that is about to be made. If a process was killed while it made the directory, the
    /// identity is in use already.
    private static Current begun(Path root, Settings settings) {
        Long given = Journal.identity(root);
        return new Current(0, given == null ? settings.random().nextLong() : given, settings.keepJournal());
    }

    /// The directory remembers whether its journal is kept. To keep it later is of use only while nothing
    /// is gone.
    private void keepJournal(Path root, Settings settings) {
        boolean kept = current.journalKept();
        if (settings.keepJournal() && !kept) {
            if (!journal.isWhole()) {
                journal.close();
                throw new EngineException(
                        EngineException.Kind.DEFINITION_CHANGED,
                        "The journal of " + root + " was not kept from the first record on, and its beginning is gone;"
                                + " totals could not be recomputed from the rest. Go on without --keep-journal, or fold"
                                + " into a new data directory with it.");
            }
            kept = true;
            if (checkpoint != null) {
                new Current(current.number(), current.identity(), true).write(root, settings.pause());
            }
        }
        journal.keep(kept);
    }

    /// What a reader finds, who owns nothing and changes nothing. An owner may be at work meanwhile: checkpoint and
    /// journal are those of one moment.
    static Stored read(Path root) {
        return besideAnOwner(root, () -> {
            byte[] before = mark(root);
            Current current = Current.read(root);
            if (current == null) {
                throw noData(root);
            }
            Checkpoint checkpoint = checkpoint(root, current);
            List<Entry> replayed = new ArrayList<>();
            Journal journal = Journal.read(
                    root, current.identity(), position(checkpoint), payload -> replayed.add(Entry.decode(payload)));
            journal.keep(current.journalKept());
            if (!Arrays.equals(before, mark(root))) {
                journal.close();
                throw DirectoryLock.inUse(root);
            }
            return new Stored(current, checkpoint, journal, replayed, null);
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
            Current.read(root); // Says so if only the name of the view is gone.
            throw DirectoryLock.isHeld(root) ? DirectoryLock.inUse(root) : noData(root);
        }
    }

    boolean reading() {
        return lock == null;
    }

    /// Requires of an owner that the directory is still its own.
    void requireOwned() {
        if (lock != null) {
            lock.requireHeld();
        }
    }

    long identity() {
        return current.identity();
    }

    static EngineException noData(Path root) {
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED, "There is no data in " + root + ". Fold some input first.");
    }

    private static @Nullable Checkpoint checkpoint(Path root, Current current) {
        if (current.number() == 0) {
            return null;
        }
        Path view = View.directory(root, current.number());
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

    /// The file `CURRENT` of a data directory, a line of text:
    ///
    ///     onefold FORMAT view-NUMBER IDENTITY journal-kept|journal-released CRC-32C of what stands in front of it
    ///
    /// @param number of the view that serves
    /// @param identity of the data directory, random, given when it was made; all files of the directory bear it
    /// @param journalKept whether the journal is kept for ever
    record Current(long number, long identity, boolean journalKept) {
        private static final int FORMAT = 2;
        private static final int CRC_CHARACTERS = 9; // With the line end.
        private static final Pattern FORMAT_OF_LINE = Pattern.compile("onefold ([0-9]{1,5}) .*", Pattern.DOTALL);
        private static final Pattern LINE = Pattern.compile(
                "onefold [0-9]+ view-([1-9][0-9]{0,17}) ([0-9a-f]{16}) journal-(kept|released) [0-9a-f]{8}\n");

        private static Path file(Path root) {
            return root.resolve("CURRENT");
        }

        /// Reads the file; `null` if there is none yet.
        static @Nullable Current read(Path root) {
            Path file = file(root);
            if (!Files.exists(file)) {
                requireNoData(root);
                return null;
            }
            String text = new String(Disk.readAll(file), StandardCharsets.US_ASCII);
            if (text.startsWith("view-")) { // As it was before files had numbers.
                throw FileHeader.otherFormat(file, 0, FORMAT);
            }
            String body = text.substring(0, Math.max(0, text.length() - CRC_CHARACTERS));
            if (!text.equals(sealed(body))) {
                throw Disk.corrupt(file, 0, "it does not name a view");
            }
            Matcher format = FORMAT_OF_LINE.matcher(body);
            if (format.matches() && Integer.parseInt(format.group(1)) != FORMAT) {
                throw FileHeader.otherFormat(file, Integer.parseInt(format.group(1)), FORMAT);
            }
            Matcher line = LINE.matcher(text);
            if (!line.matches()) {
                throw Disk.corrupt(file, 0, "it does not name a view");
            }
            return new Current(
                    Long.parseLong(line.group(1)),
                    HexFormat.fromHexDigitsToLong(line.group(2)),
                    line.group(3).equals("kept"));
        }

        private static String sealed(String body) {
            CRC32C crc = new CRC32C();
            crc.update(body.getBytes(StandardCharsets.US_ASCII));
            return body + HexFormat.of().toHexDigits((int) crc.getValue()) + "\n";
        }

        /// A view that was begun when a crash came holds no record yet; one that does was named, and its name
        /// is gone.
        private static void requireNoData(Path root) {
            for (Path view : FileNames.list(root, FileNames::isView)) {
                Checkpoint checkpoint = Checkpoint.read(view);
                if (checkpoint != null && !checkpoint.sources().isEmpty()) {
                    throw Disk.corrupt(file(root), 0, "the file is gone, but " + view + " holds data");
                }
            }
        }

        /// Writes the file, also when it can be read already: it may have been left by a process that was
        /// killed, or stopped, before it was on the disk; and what it does not name is about to be deleted.
        void write(Path root, Runnable pause) {
            String line = sealed("onefold " + FORMAT + " view-" + number + " "
                    + HexFormat.of().toHexDigits(identity) + " journal-" + (journalKept ? "kept" : "released") + " ");
            ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
            while (true) {
                try {
                    Disk.replace(file(root), bytes.duplicate());
                    return;
                } catch (OutOfSpaceException e) {
                    pause.run();
                }
            }
        }
    }
}
