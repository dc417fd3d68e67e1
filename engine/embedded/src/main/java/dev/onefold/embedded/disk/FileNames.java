package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The names of all files that the engine ever makes in a data directory. The engine writes and deletes
/// these only, and only in a folder that is a data directory or is empty: a folder that somebody named by
/// mistake stays as it is.
///
///     LOCK  LOCK.holder  CURRENT  RESET  journal-mark  journal-N  engine.socket
///     code-SHA256.jar  schemas/ID
///     view-N/  CHECKPOINT  rows-SHARD-N  groups-N  letters-N  bodies-N  seals-N  deliveries  deliveries-mark
///              content-NUMBER[.gz|.zst]  held-NUMBER
///
/// `.new` is behind the name of a file that is about to replace another.
public final class FileNames {
    private static final Pattern IN_DIRECTORY = Pattern.compile(
            "LOCK|LOCK\\.holder|engine\\.socket|RESET(\\.new)?"
                    + "|CURRENT(\\.new)?|journal-mark(\\.new)?|journal-[1-9][0-9]{0,17}(\\.new)?|code-[0-9a-f]{64}\\.jar(\\.new)?");
    private static final Pattern UNFINISHED_JOURNAL = Pattern.compile("journal-[1-9][0-9]{0,17}\\.new");
    private static final Pattern VIEW = Pattern.compile("view-[1-9][0-9]{0,17}");
    private static final Pattern IN_VIEW = Pattern.compile(
            "CHECKPOINT(\\.new)?|rows-[0-9]{1,3}-[0-9]{1,18}|groups-[1-9][0-9]{0,17}|letters-[1-9][0-9]{0,17}"
                    + "|(bodies|seals)-[1-9][0-9]{0,17}(\\.new)?|deliveries(-mark)?(\\.new)?|content-[0-9.]{1,400}(\\.gz|\\.zst)?(\\.new)?"
                    + "|held-[0-9]{1,18}(\\.new)?");
    private static final Pattern OF_SEEDING = Pattern.compile("[0-9]{1,18}\\.(json|lock|part)|resync\\.lock");
    private static final Pattern OF_REQUESTS = Pattern.compile("answers(\\.next)?");
    private static final Pattern OF_SCHEMAS = Pattern.compile("[0-9]{1,10}(\\.new)?");
    private static final Pattern OF_COMMANDS = Pattern.compile("command-.*");
    private static final String REQUESTS = "requests";
    private static final String SEEDS = "seeds";
    private static final String HANDOVER = "handover";
    private static final String SCHEMAS = "schemas";
    private static final String NEW = ".new";
    private static final String LOST_AND_FOUND = "lost+found"; // In the root of a file system; not ours, no mistake.
    private static final int CURRENT_BYTES_MAX = 200;

    private FileNames() {}

    /// Whether a path is a view's folder, by its name; a link to a folder is not.
    public static boolean isView(Path path) {
        return VIEW.matcher(name(path)).matches() && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /// Whether a file is a segment of the journal that was never whole, by its name.
    static boolean isUnfinishedJournal(Path path) {
        return UNFINISHED_JOURNAL.matcher(name(path)).matches();
    }

    /// Whether a file in a view's folder is one of the engine's, by its name.
    public static boolean isInView(Path path) {
        return IN_VIEW.matcher(name(path)).matches() && Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    /// Whether a file in a view's folder is kept by deliveries of batches, by its name.
    public static boolean isOfDelivery(Path path) {
        return name(path).startsWith("deliveries") || isContent(path) || isHeld(path);
    }

    /// Whether it is the content of a batch, made for its delivery.
    public static boolean isContent(Path path) {
        return name(path).startsWith("content-");
    }

    /// Whether it is a copy of a batch's records.
    public static boolean isHeld(Path path) {
        return name(path).startsWith("held-");
    }

    /// Deletes contents of batches and copies of records that were not finished when their process was killed. They can
    /// be large, so they go before anything is written.
    public static void deleteUnfinishedContents(Path directory) {
        for (Path view : list(directory, FileNames::isView)) {
            list(
                            view,
                            file -> isInView(file)
                                    && isOfDelivery(file)
                                    && name(file).endsWith(NEW))
                    .forEach(Disk::delete);
        }
    }

    private static String name(Path path) {
        return String.valueOf(path.getFileName());
    }

    /// Whether the folder has begun to be a data directory: a view serves, or did serve.
    public static boolean hasData(Path directory) {
        return Disk.exists(current(directory));
    }

    private static Path current(Path directory) {
        return directory.resolve("CURRENT");
    }

    /// The file that notes that the directory is being emptied, or was.
    public static Path reset(Path directory) {
        return directory.resolve("RESET");
    }

    /// The chosen paths in a folder, in the order of their names.
    public static List<Path> list(Path directory, Predicate<Path> chosen) {
        List<Path> paths = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
            for (Path path : all) {
                if (chosen.test(path)) {
                    paths.add(path);
                }
            }
        } catch (IOException e) {
            throw Disk.failed("listing", directory, e);
        }
        paths.sort(null);
        return paths;
    }

    /// The folder of a view.
    public static Path view(Path directory, long number) {
        return directory.resolve("view-" + number);
    }

    /// The copy of a function's jar.
    public static Path code(Path directory, String sha256) {
        return directory.resolve("code-" + sha256 + ".jar");
    }

    /// Deletes the folders of views that do not serve: of an old one that was replaced, or a new one that was
    /// never finished.
    public static void deleteOtherViews(Path directory, long serving) {
        Path kept = view(directory, serving);
        list(directory, path -> isView(path) && !path.equals(kept)).forEach(FileNames::deleteView);
    }

    /// Deletes a view's folder with the engine's files in it; a folder that holds anything more stays.
    public static void deleteView(Path view) {
        list(view, FileNames::isInView).forEach(Disk::delete);
        if (list(view, _ -> true).isEmpty()) {
            Disk.delete(view);
        }
    }

    /// Deletes all that Onefold has made in a data directory, except the files that say whose it is and that
    /// it is being emptied. Files of somebody else stay. So does the folder `handover`, by which the commands
    /// are known that a killed process has left running. Durable when it returns.
    public static void deleteData(Path directory) {
        Disk.delete(current(directory)); // First, and for good: where it is, all that it names is there.
        Disk.forceDirectory(directory);
        deleteIn(directory.resolve(REQUESTS), OF_REQUESTS);
        deleteIn(directory.resolve(SEEDS), OF_SEEDING);
        deleteIn(directory.resolve(SCHEMAS), OF_SCHEMAS);
        Path handover = directory.resolve(HANDOVER);
        if (Files.isDirectory(handover, LinkOption.NOFOLLOW_LINKS)) {
            list(handover, file -> OF_COMMANDS.matcher(name(file)).matches() && isFile(file))
                    .forEach(Disk::delete);
            Disk.forceDirectory(handover);
        }
        for (Path view : list(directory, FileNames::isView)) {
            deleteView(view);
            if (Files.exists(view)) { // Somebody else's files are in it.
                Disk.forceDirectory(view);
            }
        }
        list(directory, FileNames::isData).forEach(Disk::delete);
        Disk.forceDirectory(directory);
    }

    /// Requires that all that [#deleteData] would delete can be deleted.
    ///
    /// Nothing of ours may be a symbolic link: the data behind one would be left for the next engine to find, or
    /// would have to be deleted in another folder. And this user may change each folder that holds something
    /// of ours.
    ///
    /// @throws EngineException if something cannot be deleted
    public static void requireDeletable(Path directory) {
        requireChangeable(directory);
        for (Path path : list(directory, _ -> true)) {
            Pattern names = namesIn(path);
            if (names != null || IN_DIRECTORY.matcher(name(path)).matches()) {
                requireNoLink(path);
            }
            if (names != null && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                List<Path> ours = list(path, file -> names.matcher(name(file)).matches());
                ours.forEach(FileNames::requireNoLink);
                if (!ours.isEmpty()) {
                    requireChangeable(path);
                }
            }
        }
    }

    /// The pattern of the engine's file names in a folder; `null` if the folder is not one of the engine's.
    private static @Nullable Pattern namesIn(Path folder) {
        String name = name(folder);
        return switch (name) {
            case REQUESTS -> OF_REQUESTS;
            case SEEDS -> OF_SEEDING;
            case SCHEMAS -> OF_SCHEMAS;
            case HANDOVER -> OF_COMMANDS;
            default -> VIEW.matcher(name).matches() ? IN_VIEW : null;
        };
    }

    private static void requireChangeable(Path folder) {
        if (!Files.isWritable(folder) || !Files.isExecutable(folder)) {
            throw Disk.failed("emptying", folder, new AccessDeniedException(folder.toString()));
        }
    }

    private static void requireNoLink(Path path) {
        if (Files.isSymbolicLink(path)) {
            throw new EngineException(
                    EngineException.Kind.FOREIGN,
                    path
                            + " is a symbolic link. A reset deletes nothing behind a link, so it deleted nothing. Put in its"
                            + " place what it leads to, or delete both, and run it again.");
        }
    }

    private static boolean isData(Path path) {
        String name = name(path);
        return IN_DIRECTORY.matcher(name).matches()
                && !name.startsWith("LOCK")
                && !name.startsWith("RESET")
                && isFile(path);
    }

    private static boolean isFile(Path path) {
        return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    /// Deletes the files of these names, and the folder if nothing else is in it.
    private static void deleteIn(Path folder, Pattern names) {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        list(folder, file -> names.matcher(name(file)).matches() && isFile(file))
                .forEach(Disk::delete);
        if (list(folder, _ -> true).isEmpty()) {
            Disk.delete(folder);
        } else {
            Disk.forceDirectory(folder);
        }
    }

    /// Requires that a path is not a file.
    public static void requireFolder(Path directory) {
        if (Disk.exists(directory) && !Disk.isFolder(directory)) {
            throw new EngineException(
                    EngineException.Kind.FOREIGN,
                    directory + " is a file. Name the data directory, or a folder that is empty or does not exist yet"
                            + " (--data).");
        }
    }

    /// Requires that a folder is a data directory, or is empty, or was about to become a data directory when its
    /// process was killed.
    ///
    /// @throws EngineException if the folder belongs to somebody else; nothing in it was touched
    public static void requireOurs(Path directory) {
        if (beginsWith(current(directory), "onefold ", "view-") || beginsWith(reset(directory), "onefold-reset ")) {
            return;
        }
        for (Path path : list(directory, _ -> true)) {
            if (!isOurs(path)) {
                throw new EngineException(
                        EngineException.Kind.FOREIGN,
                        directory + " is not a data directory of Onefold: it holds " + name(path)
                                + ". Nothing in it was changed. Name the data directory, or a folder that is empty or"
                                + " does not exist yet (--data).");
            }
        }
    }

    private static boolean beginsWith(Path file, String... beginnings) {
        try {
            if (!Disk.exists(file) || !Files.isRegularFile(file) || Files.size(file) > CURRENT_BYTES_MAX) {
                return false;
            }
            String text = new String(Disk.readAll(file), StandardCharsets.US_ASCII);
            return Arrays.stream(beginnings).anyMatch(text::startsWith);
        } catch (IOException e) {
            throw Disk.failed("reading", file, e);
        }
    }

    private static boolean isOurs(Path path) {
        String name = name(path);
        if (isView(path)) {
            return list(path, file -> !isInView(file)).isEmpty();
        }
        try {
            return name.equals(LOST_AND_FOUND)
                    || name.equals("LOCK") && Files.size(path) == 0
                    || !name.equals("LOCK") && IN_DIRECTORY.matcher(name).matches() && !Files.isDirectory(path);
        } catch (IOException e) {
            throw Disk.failed("reading", path, e);
        }
    }
}
