package dev.onefold.embedded.intake;

import dev.onefold.core.EngineException;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.file.Decompression;
import dev.onefold.embedded.file.FileMark;
import dev.onefold.embedded.file.Generations;
import dev.onefold.embedded.file.Generations.Generation;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.embedded.source.FollowedFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Reads a followed file. When it is rotated, the old one is finished first.
///
/// Each file that had the name is a source of its own, a *generation*:
/// `/var/log/trades.log#2@1234.1763832000123` is the second one, had the inode 1234, and was made at that
/// millisecond. The name is in the checkpoint with the progress of the source, in one atomic step. So after a
/// crash at any instant it is known which file was being read, and that one is found again by its inode and
/// its content, or by its content alone, if it was compressed since. A generation's source is made durable
/// before anything of it is read, and the next one begins only when a forced checkpoint covers the last byte
/// of this one.
///
///     start -> which generation was the last? -- none --> 1 = the file that has the name
///                | n
///                v
///              find its file -> has it the name? -- yes --> go on there
///                | no: it was rotated
///                v
///              finish it -> open the file that has the name -> finish those rotated between -> go on there
///                ^                                                                               |
///                +------------------------- another file has the name --------------------------+
///
/// Not thread-safe.
public final class FileFollower {
    private static final Duration POLL_MIN = Duration.ofMillis(100);

    /// The engine reads the folded part again, to see that it has not changed: that takes at most a quarter
    /// of the time.
    private static final int POLL_PER_FOLD = 3;

    /// A writer that has not yet turned to the new file may still write to the old one.
    private static final Duration QUIET = Duration.ofSeconds(3);

    /// A compressed file that cannot be read is still being written, if that was not longer ago.
    private static final Duration COMPRESSING = Duration.ofSeconds(10);

    private final Path path;
    private final FollowedFile file;
    private final FileIntake engine;
    private final Supplier<List<Answer.Progress>> sources;
    private final FoldListener listener;
    private final Generations generations;
    private final Set<FileMark> compressed = new HashSet<>(); // Those that are finished: they do not grow any more.
    private @Nullable Finished before; // The generation before the one that is read.

    /// A generation that was read to its end, and is held open: a writer that turns late to the new file may
    /// still write to it, and its name may be gone by then, because it was compressed.
    private record Finished(String source, LiveFile file) {}

    /// The generation that has the name, as far as is known.
    ///
    /// @param after the last finished file; files rotated since come first
    /// @param source of the generation, if it has begun
    /// @param file the file of the generation, if it is open
    private record Standing(
            long number,
            @Nullable FileMark after,
            @Nullable String source,
            @Nullable LiveFile file) {}

    /// Folds a source as far as it has content.
    public interface FileIntake {
        FileSource.Outcome fold(FileSource source, FoldListener listener);
    }

    /// @param engine folds a source as far as it has content
    /// @param sources the progress of each source in the results
    public FileFollower(
            FollowedFile file, FileIntake engine, Supplier<List<Answer.Progress>> sources, FoldListener listener) {
        this.file = file;
        this.engine = engine;
        this.sources = sources;
        this.listener = listener;
        path = file.path();
        generations = new Generations(path);
    }

    /// Reads until the listener or an interrupt stops it.
    public void follow() {
        try {
            Standing standing = catchUp();
            if (stops() && standing.file() != null) {
                standing.file().close();
            }
            while (!stops()) {
                standing = live(standing);
            }
        } catch (IOException | DirectoryIteratorException e) {
            throw unreadable(path, e);
        } finally {
            closeBefore();
        }
    }

    private static EngineException unreadable(Path file, Exception e) {
        return new EngineException(
                EngineException.Kind.SOURCE_UNREADABLE,
                "File " + file + " cannot be followed: " + e + ". What was folded of it is safe.",
                e);
    }

    private void closeBefore() {
        try {
            if (before != null) {
                before.file().close();
            }
        } catch (IOException e) {
            throw unreadable(path, e);
        }
        before = null;
    }

    private boolean stops() {
        return listener.stop() || Thread.currentThread().isInterrupted();
    }

    /// Finds the file that was being read, and finishes it if it was rotated away. A file that cannot be read
    /// may be that one: if no other is, it is neither forgotten nor folded as another one later.
    private Standing catchUp() throws IOException {
        Optional<Generation> last = generations.last(sources.get());
        if (last.isEmpty()) {
            return new Standing(1, null, null, null);
        }
        Generation generation = last.get();
        EngineException unreadable = null;
        for (Path candidate : generations.candidates(generation)) {
            try {
                Standing found = goOnWith(generation, candidate);
                if (found != null) {
                    return found;
                }
            } catch (EngineException e) {
                if (e.kind() != EngineException.Kind.SOURCE_UNREADABLE) {
                    throw e;
                }
                unreadable = new EngineException(e.kind(), "File " + candidate + ": " + e.getMessage(), e);
            }
        }
        if (unreadable != null) {
            throw unreadable;
        }
        if (generation.records() == 0 && generation.since() >= 0) { // Nothing of it can count twice.
            FileMark after = FileMark.since(generation.since());
            return new Standing(generation.number() + 1, after, null, null);
        }
        if (!file.forgetRotated()) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    path + " is another file than the one that was being read (" + generation.source()
                            + ", of which " + generation.bytes()
                            + " bytes are folded), and that one is not found beside it any more.\nPut it back beside it, under any"
                            + " name; or, if its rest does not matter, go on with --forget-rotated.");
        }
        return new Standing(generation.number() + 1, null, null, null);
    }

    /// The state if a file is the generation; `null` if it is another one.
    private @Nullable Standing goOnWith(Generation generation, Path candidate) throws IOException {
        LiveFile opened;
        try {
            opened = LiveFile.open(candidate);
        } catch (FileNotFoundException e) { // It may not be read.
            throw unreadable(candidate, e);
        }
        if (opened == null) {
            return null;
        }
        boolean isLive = candidate.equals(path);
        boolean isRead = false;
        try {
            boolean isSource = isSource(new FileSource(generation.source(), content(candidate, opened), isLive));
            isRead = isLive && isSource;
            if (!isSource) {
                return null;
            }
        } finally {
            if (!isRead) {
                opened.close();
            }
        }
        if (isLive) {
            return new Standing(generation.number(), null, generation.source(), opened);
        }
        sayFinished(candidate);
        return new Standing(generation.number() + 1, opened.mark(), null, null);
    }

    /// The content of an open file, also if another one has its name now.
    private static FileSource.Opener content(Path name, LiveFile file) {
        return () -> Decompression.open(name, file.stream());
    }

    /// Whether a file is the one that its source was folded from; then it is folded.
    private boolean isSource(FileSource source) {
        return !(engine.fold(source, listener) instanceof FileSource.Refused);
    }

    /// Reads the file that has the name until another one has, and then to its end.
    private Standing live(Standing standing) throws IOException {
        LiveFile live = standing.file() == null ? awaitFile() : standing.file();
        if (live == null) {
            return standing;
        }
        boolean isFinished = false;
        try {
            // Files that are rotated from now on come after this one; unfinished ones from before come first.
            long number = standing.number() + finishBetween(standing, live);
            if (stops()) {
                return standing; // Nothing is begun: unfinished files must come first after the next start, too.
            }
            String source = standing.source() == null ? begin(standing.number(), number, live) : standing.source();
            listener.following(path, number);
            if (readUntilRotated(source, live)) {
                fold(source, live, false);
                finishBefore();
                before = new Finished(source, live);
                isFinished = true;
            }
            return new Standing(number + 1, live.mark(), null, null);
        } finally {
            if (!isFinished) {
                live.close();
            }
        }
    }

    /// Takes the lines that came to the generation before after it was finished.
    private void finishBefore() {
        if (before != null) {
            fold(before.source(), before.file(), false);
            closeBefore();
        }
    }

    /// Returns whether it ended because of a rotation, and not because of a stop.
    private boolean readUntilRotated(String source, LiveFile live) throws IOException {
        long folded = -1;
        long pollNanos = POLL_MIN.toNanos();
        while (!stops()) {
            boolean rotated = live.isRotated();
            long size = live.size();
            if (size < folded) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        path + " was cut to " + size + " bytes; " + folded
                                + " of it are folded. What was written since it was last read may be lost. Rotate it by renaming"
                                + " it, not by cutting it (copytruncate). --forget-rotated takes it for a new file.");
            }
            if (size > folded) {
                long startNanos = System.nanoTime();
                fold(source, live, true);
                folded = size;
                pollNanos = Math.max(POLL_MIN.toNanos(), POLL_PER_FOLD * (System.nanoTime() - startNanos));
            } else if (rotated && live.isQuiet(QUIET)) {
                return true;
            }
            LockSupport.parkNanos(pollNanos);
        }
        return false;
    }

    /// Waits for a file of the name, and opens it; `null` when a stop is requested.
    private @Nullable LiveFile awaitFile() throws IOException {
        while (!stops()) {
            LiveFile live = LiveFile.open(path);
            if (live != null) {
                return live;
            }
            LockSupport.parkNanos(POLL_MIN.toNanos());
        }
        return null;
    }

    /// Finishes files that had the name for too short a time to be seen, the oldest first. The names may move
    /// on while one is folded: so they are listed again after each, and an open file stays the same, whatever
    /// its name.
    ///
    /// @return how many generations these are
    private long finishBetween(Standing standing, LiveFile live) throws IOException {
        FileMark after = standing.after();
        Set<String> done = new HashSet<>();
        long more = 0;
        while (after != null && !stops()) {
            Path next = null;
            for (Path rotated : generations.rotatedAfter(after, live.mark())) {
                FileMark mark = FileMark.of(rotated);
                next = next == null && !done.contains(mark.key()) && !compressed.contains(mark) ? rotated : next;
            }
            if (next == null) {
                return more;
            }
            try (LiveFile rotated = LiveFile.open(next)) {
                if (rotated != null
                        && !rotated.mark().isSameFile(after)
                        && !rotated.mark().isSameFile(live.mark())
                        && done.add(rotated.mark().key())) {
                    more += finishRotated(standing.number() + more, next, rotated) ? 1 : 0;
                    if (Decompression.isCompressed(next)) {
                        compressed.add(rotated.mark());
                    }
                }
            } catch (EngineException e) {
                if (!isBeingCompressed(next, e)) {
                    throw e;
                }
                done.remove(FileMark.of(next).key());
                LockSupport.parkNanos(POLL_MIN.toNanos());
            }
        }
        return more;
    }

    /// Whether a file could not be read because somebody is still writing it.
    private static boolean isBeingCompressed(Path file, EngineException e) throws IOException {
        return e.kind() == EngineException.Kind.SOURCE_UNREADABLE
                && Decompression.isCompressed(file)
                && FileMark.of(file)
                        .modified()
                        .toInstant()
                        .isAfter(Instant.now().minus(COMPRESSING));
    }

    /// Finishes a rotated file. One whose inode no generation had is a copy if it has the content of a
    /// generation whose file is gone (the file was compressed, or restored from a backup), and if it is
    /// compressed (the file may have been kept). While a generation's file is there, a file that begins with
    /// its content is another one.
    ///
    /// @return whether it is a new generation
    private boolean finishRotated(long number, Path name, LiveFile rotated) throws IOException {
        String key = rotated.mark().key();
        FileSource.Opener content = content(name, rotated);
        Optional<String> known = generations.source(sources.get(), key);
        if (known.isPresent() && isSource(new FileSource(known.get(), content, false))) {
            sayFinished(name);
            return false;
        }
        String source = generations.name(number, rotated.mark());
        FileSource.Outcome report = engine.fold(new FileSource(source, content, false), listener);
        if (report instanceof FoldReport.AlreadyFolded(String other)
                && (Decompression.isCompressed(name) || Generations.file(other).isEmpty())) {
            return false;
        }
        if (report instanceof FileSource.Refused(String other, String message)
                && (other == null || Generations.file(other).isEmpty())
                && !file.separate()) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Rotated file " + name + ": " + message
                            + "\nIf its rest does not matter, move it to another folder.");
        }
        if (!(report instanceof FoldReport.Folded)) {
            engine.fold(new FileSource(source, content, false, true), listener);
        }
        sayFinished(name);
        return true;
    }

    /// Reports it, unless the fold was perhaps stopped before the end.
    private void sayFinished(Path rotated) {
        if (!stops()) {
            listener.finished(rotated);
        }
    }

    /// Makes a generation's source durable before anything of it is read. A file that takes the name of
    /// another one is new, even if it begins as another one did. The first file may have been folded before,
    /// under another name, which its content shows; so may one that was rotated and compressed while those
    /// before it were finished.
    ///
    /// @param between number of the first of these
    private String begin(long between, long number, LiveFile live) throws IOException {
        String source = generations.name(number, live.mark());
        if (number > between && Generations.file(source).isEmpty()) {
            for (String copy : generations.from(between, sources.get())) {
                if (engine.fold(new FileSource(copy, live::stream, true), opening()) instanceof FoldReport) {
                    return copy;
                }
            }
        }
        FileSource begun = new FileSource(source, live::stream, true, number > 1 || file.separate());
        if (engine.fold(begun, opening()) instanceof FileSource.Refused refused) {
            throw new EngineException(EngineException.Kind.SOURCE_CHANGED, refused.message());
        }
        return source;
    }

    /// Folds nothing yet, and waits for space on the disk as long as the whole fold does.
    private FoldListener opening() {
        return new FoldListener() {
            @Override
            public boolean stop() {
                return true;
            }

            @Override
            public boolean givesUp() {
                return listener.givesUp();
            }
        };
    }

    /// Folds a generation that is open.
    private void fold(String source, LiveFile live, boolean growing) {
        if (engine.fold(new FileSource(source, live::stream, growing), listener)
                instanceof FileSource.Refused refused) {
            throw new EngineException(EngineException.Kind.SOURCE_CHANGED, refused.message());
        }
    }
}
