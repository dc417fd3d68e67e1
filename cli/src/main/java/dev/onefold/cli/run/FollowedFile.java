package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Generations.Generation;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FileSource;
import dev.onefold.embedded.FoldListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A file that is being written and rotated: renamed, with another file under its name from then on. The old one is
/// finished first.
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
final class FollowedFile {
    private static final Duration POLL_MIN = Duration.ofMillis(100);

    /// The engine reads what is folded again, to see that it has not changed: at most a quarter of the time goes
    /// there.
    private static final int POLL_PER_FOLD = 3;

    /// A writer that has not yet turned to the new file may still write to the old one.
    private static final Duration QUIET = Duration.ofSeconds(3);

    private final Caller caller;
    private final EmbeddedEngine engine;
    private final StopRequest stop;
    private final Path path;
    private final boolean separate;
    private final Generations generations;

    /// Which generation has the name, as far as is known.
    ///
    /// @param after what is finished; files rotated since come first
    /// @param source of the generation, if it has begun
    /// @param file the generation's, if it is open
    private record Position(
            long number,
            @Nullable FileMark after,
            @Nullable String source,
            @Nullable LiveFile file) {}

    /// @param separate whether the first file is known to be no copy of what was folded under another name
    FollowedFile(Caller caller, EmbeddedEngine engine, StopRequest stop, Path path, boolean separate) {
        this.caller = caller;
        this.engine = engine;
        this.stop = stop;
        this.path = path;
        this.separate = separate;
        generations = new Generations(path);
    }

    /// Reads until a stop is asked for.
    ///
    /// @param forgetRotated whether to go on when the file that was being read is not found any more
    void follow(boolean forgetRotated) throws IOException {
        if (InputFile.isCompressed(path)) {
            throw CommandFailure.usage("A compressed file cannot be followed: " + caller.shown(path) + ".");
        }
        Position position = catchUp(forgetRotated);
        while (!stop.isMade()) {
            position = live(position);
        }
    }

    /// Finds the file that was being read, and finishes it if it was rotated away.
    private Position catchUp(boolean forgetRotated) throws IOException {
        Optional<Generation> last = generations.last(sources());
        if (last.isEmpty()) {
            return new Position(1, null, null, null);
        }
        Generation generation = last.get();
        for (Path candidate : generations.candidates(generation)) {
            if (candidate.equals(path)) {
                LiveFile file = LiveFile.open(path);
                if (isSource(() -> fold(generation.source(), file, true))) {
                    return new Position(generation.number(), null, generation.source(), file);
                }
                file.close();
            } else if (isSource(() -> finish(generation.source(), candidate))) {
                return new Position(generation.number() + 1, FileMark.of(candidate), null, null);
            }
        }
        if (!forgetRotated) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    caller.shown(path) + " is another file than the one that was being read ("
                            + caller.shownSource(generation.source())
                            + ", of which " + Words.count(generation.bytes(), "byte")
                            + " are folded), and that one is not found beside it any more.\nPut it back beside it, under any"
                            + " name; or, if its rest does not matter, go on with --forget-rotated.");
        }
        return new Position(generation.number() + 1, null, null, null);
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
    private Position live(Position position) throws IOException {
        LiveFile opened = position.file() == null ? awaitFile() : position.file();
        if (opened == null) {
            return position;
        }
        try (LiveFile file = opened) {
            // What is rotated from now on comes after this file; what was before, and is not finished, comes first.
            long number = position.number() + finishBetween(position, file);
            String source = position.source() == null ? begin(number, file) : position.source();
            caller.err()
                    .println("Following " + caller.shown(path) + (number == 1 ? "." : " (generation " + number + ")."));
            if (readUntilRotated(source, file)) {
                fold(source, file, false);
            }
            return new Position(number + 1, file.mark(), null, null);
        }
    }

    /// Returns whether it ended because of a rotation, and not of a stop.
    private boolean readUntilRotated(String source, LiveFile file) throws IOException {
        long folded = -1;
        long pollNanos = POLL_MIN.toNanos();
        while (!stop.isMade()) {
            boolean rotated = file.isRotated();
            long size = file.size();
            if (size < folded) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        caller.shown(path) + " was cut to " + Words.count(size, "byte") + "; "
                                + Words.count(folded, "byte")
                                + " of it are folded. What was written since it was last read may be lost. Rotate it by renaming"
                                + " it, not by cutting it (copytruncate). --forget-rotated takes it for a new file.");
            }
            if (size > folded) {
                long startNanos = System.nanoTime();
                fold(source, file, true);
                folded = size;
                pollNanos = Math.max(POLL_MIN.toNanos(), POLL_PER_FOLD * (System.nanoTime() - startNanos));
            } else if (rotated && file.isQuiet(QUIET)) {
                return true;
            }
            LockSupport.parkNanos(pollNanos);
        }
        return false;
    }

    /// Whatever has the name, as soon as something has; `null` when a stop is asked for.
    private @Nullable LiveFile awaitFile() throws IOException {
        while (!stop.isMade()) {
            if (Files.exists(path)) {
                return LiveFile.open(path);
            }
            LockSupport.parkNanos(POLL_MIN.toNanos());
        }
        return null;
    }

    /// Finishes files that had the name for too short a time to be seen. Returns how many generations these are.
    private long finishBetween(Position position, LiveFile file) throws IOException {
        FileMark after = position.after();
        long more = 0;
        if (after != null) {
            for (Path rotated : generations.rotatedAfter(after, file.mark())) {
                String key = FileMark.of(rotated).key();
                Optional<String> known = generations.source(sources(), key);
                if (known.isEmpty() || !isSource(() -> finish(known.get(), rotated))) {
                    finish(generations.name(position.number() + more, key), rotated);
                    more++;
                }
            }
        }
        return more;
    }

    /// Makes a generation's source durable before anything of it is read. A file that takes the name of another one
    /// is new, even if it begins as another one did; the first one may have been folded before, under another name,
    /// which its content tells.
    private String begin(long number, LiveFile file) {
        String source = generations.name(number, file.mark().key());
        engine.fold(new FileSource(source, file::stream, true, number > 1 || separate), listener(true));
        return source;
    }

    private boolean finish(String source, Path file) {
        engine.fold(new FileSource(source, () -> InputFile.open(file, new AtomicLong()), false), listener(false));
        caller.err().println("Finished " + caller.shown(file) + ", which was rotated.");
        return true;
    }

    private boolean fold(String source, LiveFile file, boolean growing) {
        engine.fold(new FileSource(source, file::stream, growing), listener(false));
        return true;
    }

    private List<Answer.Progress> sources() {
        return engine.status().sources();
    }

    private FoldListener listener(boolean stopAtOnce) {
        return new FoldListener() {
            @Override
            public void folded(long durableBytes, long foldedBytes, Counts counts) {}

            @Override
            public boolean stop() {
                return stopAtOnce || stop.isMade();
            }
        };
    }
}
