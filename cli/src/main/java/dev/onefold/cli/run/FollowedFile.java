package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.EngineException;
import dev.onefold.embedded.FileSource;
import dev.onefold.embedded.FoldListener;
import dev.onefold.embedded.FoldReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
///     start -> which generation is the last? -- none --> 1 = the file that has the name
///                | n
///                v
///              find its file -> has it the name? -- yes --> go on there
///                | no: it was rotated
///                v
///              finish it, then those rotated after it, n + 1 ..., then the file that has the name
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
    private final Generations generations;

    FollowedFile(Caller caller, EmbeddedEngine engine, StopRequest stop, Path path) {
        this.caller = caller;
        this.engine = engine;
        this.stop = stop;
        this.path = path;
        generations = new Generations(path);
    }

    /// Reads until a stop is asked for.
    ///
    /// @param forgetRotated whether to go on when the file that was being read is not found any more
    void follow(boolean forgetRotated) throws IOException {
        if (InputFile.isCompressed(path)) {
            throw CommandFailure.usage("A compressed file cannot be followed: " + caller.shown(path) + ".");
        }
        long next = catchUp(forgetRotated);
        while (!stop.isMade()) {
            next = live(next) + 1;
        }
    }

    /// Finishes what was rotated away while nobody read. Returns the number of the generation that has the name now.
    private long catchUp(boolean forgetRotated) throws IOException {
        Optional<Generations.Generation> last = generations.last(sources());
        if (last.isEmpty()) {
            return 1;
        }
        Generations.Generation generation = last.get();
        Path file = find(generation);
        if (file == null) {
            if (!forgetRotated) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        caller.shown(path) + " is another file than the one that was being read ("
                                + Words.visible(generation.source())
                                + ", of which " + Words.count(generation.bytes(), "byte")
                                + " are folded), and that one is not found beside it any more.\nPut it back beside it, under any"
                                + " name; or, if its rest does not matter, go on with --forget-rotated.");
            }
            return generation.number() + 1;
        }
        if (file.equals(path)) {
            return generation.number();
        }
        long number = generation.number() + 1;
        for (Path rotated : generations.rotatedAfter(file)) {
            if (stop.isMade()) {
                return number;
            }
            finish(generations.name(number, rotated), rotated);
            number++;
        }
        return number;
    }

    /// The file of a generation, finished if it does not have the name any more.
    private @Nullable Path find(Generations.Generation generation) throws IOException {
        for (Path candidate : generations.candidates(generation)) {
            try {
                if (candidate.equals(path)) {
                    try (LiveFile file = LiveFile.open(path)) {
                        fold(generation.source(), file, true);
                    }
                } else {
                    finish(generation.source(), candidate);
                }
                return candidate;
            } catch (EngineException e) {
                if (e.kind() != EngineException.Kind.SOURCE_CHANGED) {
                    throw e;
                }
            }
        }
        return null;
    }

    private void finish(String source, Path file) {
        caller.err().println("Finishing " + caller.shown(file) + ", which was rotated.");
        engine.fold(new FileSource(source, () -> InputFile.open(file, new AtomicLong()), false), listener());
    }

    /// Reads the file that has the name until another one has, then finishes it and those between. Returns the number
    /// of the last.
    private long live(long number) throws IOException {
        LiveFile opened = awaitFile();
        if (opened == null) {
            return number;
        }
        try (LiveFile file = opened) {
            String source = register(number, file);
            caller.err()
                    .println("Following " + caller.shown(path) + (number == 1 ? "." : " (generation " + number + ")."));
            long folded = -1;
            long pollNanos = POLL_MIN.toNanos();
            while (!stop.isMade()) {
                boolean rotated = file.isRotated();
                long size = file.size();
                if (size < Math.max(folded, 0)) {
                    throw new CommandFailure(
                            ExitCode.DIFFERENT,
                            caller.shown(path) + " was cut to " + Words.count(size, "byte") + "; "
                                    + Words.count(folded, "byte")
                                    + " of it are folded. What was written since it was last read may be lost. Rotate it by renaming it, not by"
                                    + " cutting it (copytruncate). --forget-rotated takes it for a new file.");
                }
                if (size > folded) {
                    long startNanos = System.nanoTime();
                    fold(source, file, true);
                    folded = size;
                    pollNanos = Math.max(POLL_MIN.toNanos(), POLL_PER_FOLD * (System.nanoTime() - startNanos));
                } else if (rotated && file.isQuiet(QUIET)) {
                    break;
                }
                LockSupport.parkNanos(pollNanos);
            }
            return stop.isMade() ? number : finishRotated(number, source, file);
        }
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

    private long finishRotated(long number, String source, LiveFile file) throws IOException {
        fold(source, file, false);
        long last = number;
        for (Path rotated : generations.rotatedAfter(file)) {
            last++;
            finish(generations.name(last, rotated), rotated);
        }
        return last;
    }

    /// Makes a generation's source durable before anything of it is read. Returns the name that it has in the engine:
    /// another one when its beginning was folded under another one.
    private String register(long number, LiveFile file) {
        Optional<Generations.Generation> last = generations.last(sources());
        if (last.isPresent() && last.get().number() == number) {
            return last.get().source();
        }
        String source = generations.name(number, file.key());
        FoldReport report = engine.fold(new FileSource(source, file::stream, true), new FoldListener() {
            @Override
            public void folded(long durableBytes, long foldedBytes, Counts counts) {}

            @Override
            public boolean stop() {
                return true;
            }
        });
        return report instanceof FoldReport.AlreadyFolded(String asName) ? asName : source;
    }

    private void fold(String source, LiveFile file, boolean growing) {
        engine.fold(new FileSource(source, file::stream, growing), listener());
    }

    private List<Answer.Progress> sources() {
        return engine.status().sources();
    }

    private FoldListener listener() {
        return new FoldListener() {
            @Override
            public void folded(long durableBytes, long foldedBytes, Counts counts) {}

            @Override
            public boolean stop() {
                return stop.isMade();
            }
        };
    }
}
