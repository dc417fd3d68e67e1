package dev.onefold.embedded.source;

import dev.onefold.core.EngineException;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.source.Generations.Generation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Reads a followed file. When it is rotated, the old one is finished first.
///
/// Each file that had the name is a source of its own, a *generation*: `/var/log/trades.log#2@1234` is the second
/// one, and had the inode 1234. The name is in the checkpoint with what is folded of the source, in one atomic step;
/// so after a crash at any instant it is known which file was being read, and that one is found again by its inode
/// and its content, or by its content alone, when it was compressed since. A generation's source is made durable
/// before anything of it is read, and the next one begins only when a forced checkpoint covers the last byte of this
/// one.
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
public final class Following {
    private static final Duration POLL_MIN = Duration.ofMillis(100);

    /// The engine reads what is folded again, to see that it has not changed: at most a quarter of the time goes
    /// there.
    private static final int POLL_PER_FOLD = 3;

    /// A writer that has not yet turned to the new file may still write to the old one.
    private static final Duration QUIET = Duration.ofSeconds(3);

    private final Path path;
    private final FollowedFile file;
    private final FileIntake engine;
    private final Supplier<List<Answer.Progress>> sources;
    private final FoldListener listener;
    private final Generations generations;

    /// Which generation has the name, as far as is known.
    ///
    /// @param after what is finished; files rotated since come first
    /// @param source of the generation, if it has begun
    /// @param file the generation's, if it is open
    private record Standing(
            long number,
            @Nullable FileMark after,
            @Nullable String source,
            @Nullable LiveFile file) {}

    /// Folds a source as far as there is something of it.
    public interface FileIntake {
        FoldReport fold(FileSource source, FoldListener listener);
    }

    /// @param engine folds a source as far as there is something of it
    /// @param sources how far each source is in the results
    public Following(
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
        } catch (IOException e) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "File " + path + " cannot be followed: " + e + ". What was folded of it is safe.",
                    e);
        }
    }

    private boolean stops() {
        return listener.stop() || Thread.currentThread().isInterrupted();
    }

    /// Finds the file that was being read, and finishes it if it was rotated away. A file that cannot be read may be
    /// that one: if no other is, it is neither forgotten nor folded as another one later.
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

    /// Where things stand if a file is the generation; `null` if it is another one.
    private @Nullable Standing goOnWith(Generation generation, Path candidate) throws IOException {
        if (!candidate.equals(path)) {
            return isSource(() -> finish(generation.source(), candidate))
                    ? new Standing(generation.number() + 1, FileMark.of(candidate), null, null)
                    : null;
        }
        LiveFile live = LiveFile.open(path);
        boolean goesOn = false;
        try {
            goesOn = isSource(() -> fold(generation.source(), live, true));
        } finally {
            if (!goesOn) {
                live.close();
            }
        }
        return goesOn ? new Standing(generation.number(), null, generation.source(), live) : null;
    }

    /// Whether a file is what its source was folded from; then it is folded.
    private static boolean isSource(BooleanSupplier fold) {
        try {
            return fold.getAsBoolean();
        } catch (EngineException e) {
            if (e.kind() != EngineException.Kind.SOURCE_CHANGED) {
                throw e;
            }
            return false;
        }
    }

    /// Reads the file that has the name until another one has, and then to its end.
    private Standing live(Standing standing) throws IOException {
        LiveFile opened = standing.file() == null ? awaitFile() : standing.file();
        if (opened == null) {
            return standing;
        }
        try (LiveFile live = opened) {
            // What is rotated from now on comes after this file; what was before, and is not finished, comes first.
            long number = standing.number() + finishBetween(standing, live);
            String source = standing.source() == null ? begin(number, live) : standing.source();
            listener.following(path, number);
            if (readUntilRotated(source, live)) {
                fold(source, live, false);
            }
            return new Standing(number + 1, live.mark(), null, null);
        }
    }

    /// Returns whether it ended because of a rotation, and not of a stop.
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

    /// Whatever has the name, as soon as something has; `null` when a stop is asked for.
    private @Nullable LiveFile awaitFile() throws IOException {
        while (!stops()) {
            if (Files.exists(path)) {
                return LiveFile.open(path);
            }
            LockSupport.parkNanos(POLL_MIN.toNanos());
        }
        return null;
    }

    /// Finishes files that had the name for too short a time to be seen. Returns how many generations these are.
    private long finishBetween(Standing standing, LiveFile live) throws IOException {
        FileMark after = standing.after();
        long more = 0;
        if (after != null) {
            for (Path rotated : generations.rotatedAfter(after, live.mark())) {
                String key = FileMark.of(rotated).key();
                Optional<String> known = generations.source(sources.get(), key);
                boolean isKnown = known.isPresent() && isSource(() -> finish(known.get(), rotated));
                if (!isKnown && finishUnknown(generations.name(standing.number() + more, key), rotated)) {
                    more++;
                }
            }
        }
        return more;
    }

    /// Finishes a rotated file whose inode no generation had. It is a copy if it has the content of a generation
    /// whose file is gone (the file was compressed, or restored from a backup), and if it is compressed (the file
    /// may have been kept). Any other file is a generation of its own, though it has the content of another one
    /// or begins with it: what is finished does not grow.
    ///
    /// @return whether it is a generation of its own
    private boolean finishUnknown(String source, Path rotated) throws IOException {
        FileSource found = FileSource.of(source, rotated);
        AtomicReference<@Nullable FoldReport> report = new AtomicReference<>();
        boolean isClear = isSource(() -> {
            report.set(engine.fold(found, listener));
            return true;
        });
        boolean isCopy = report.get() instanceof FoldReport.AlreadyFolded(String known)
                && (Decompression.isCompressed(rotated)
                        || Generations.file(known).isEmpty());
        if (isCopy) {
            return false;
        }
        if (!isClear || report.get() instanceof FoldReport.AlreadyFolded) {
            engine.fold(new FileSource(source, found.opener(), false, true), listener);
        }
        listener.finished(rotated);
        return true;
    }

    /// Makes a generation's source durable before anything of it is read. A file that takes the name of another one
    /// is new, even if it begins as another one did; the first one may have been folded before, under another name,
    /// which its content tells.
    private String begin(long number, LiveFile live) {
        String source = generations.name(number, live.mark().key());
        engine.fold(new FileSource(source, live::stream, true, number > 1 || file.separate()), () -> true);
        return source;
    }

    private boolean finish(String source, Path rotated) {
        engine.fold(FileSource.of(source, rotated), listener);
        listener.finished(rotated);
        return true;
    }

    private boolean fold(String source, LiveFile live, boolean growing) {
        engine.fold(new FileSource(source, live::stream, growing), listener);
        return true;
    }
}
