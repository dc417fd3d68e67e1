package dev.onefold.api.sync;

import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import dev.onefold.core.Sync;
import dev.onefold.core.bytes.RecordKind;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The seedings and repairs of an engine on a data directory. The process that seeds holds a lock of the
/// seeding in the folder `seeds`, so it is known to have ended as soon as it is killed. Any thread may call.
public final class FolderSync implements Sync {
    /// The folder of seedings and repairs in a data directory.
    public static final String FOLDER = "seeds";

    /// The name of the lock that a repair holds, so that one repairs at a time.
    public static final String ALONE = "resync";

    private final Engine engine;
    private final Path directory;
    private final SeedLog log;
    private final @Nullable List<String> files;

    private FolderSync(Engine engine, Path directory, @Nullable List<String> files) {
        this.engine = engine;
        this.directory = directory;
        log = new SeedLog(directory.resolve(FOLDER));
        this.files = files;
    }

    /// Of an engine that runs on a data directory.
    public static FolderSync of(Engine engine, Path directory) {
        return new FolderSync(engine, directory, null);
    }

    /// Of an engine that reads the files of a data directory as they are now. It does not see records that
    /// another engine folds later, which would look like differences.
    public static FolderSync reading(Engine engine, Path directory) {
        return new FolderSync(engine, directory, files(directory));
    }

    @Override
    public Run seed(String source, Optional<Instant> asOf, boolean restart) {
        return FolderRun.noted(() -> {
            SeedLog.Seed seed = log.begin(source, numbers(asOf, FolderSync::ofSeed), restart);
            return new FolderRun(seed, intake(ofSeed(seed.number())), () -> {}, () -> {});
        });
    }

    private static String ofSeed(long number) {
        return "seed/" + number;
    }

    private static String ofRepair(long number) {
        return ALONE + "/" + number;
    }

    @Override
    public Run repair() {
        return FolderRun.noted(() -> {
            Closeable alone = log.alone(ALONE)
                    .orElseThrow(() -> new EngineException(
                            Kind.IN_USE,
                            "Rows of pipeline " + engine.pipeline().name()
                                    + " are being repaired by another command; one repairs at a time."));
            boolean isBegun = false;
            try {
                SeedLog.Seed seed = log.begin(ALONE, numbers(Optional.empty(), FolderSync::ofRepair), true);
                Run run = new FolderRun(seed, intake(ofRepair(seed.number())), () -> {}, alone);
                isBegun = true;
                return run;
            } finally {
                if (!isBegun) {
                    alone.close();
                }
            }
        });
    }

    @Override
    public Run compare() {
        return new ComparisonRun(this::requireSame);
    }

    @Override
    public boolean isRunning(long below) {
        return FolderRun.noted(() -> log.isRunning(below));
    }

    /// Numbers that no source of the engine has: the folder may be lost, and the clock may go back.
    ///
    /// @param source of a number
    private SeedLog.Numbers numbers(Optional<Instant> asOf, LongFunction<String> source) {
        SeedLog.Numbers drawn = SeedLog.Numbers.of(System.currentTimeMillis(), asOf);
        return new SeedLog.Numbers() {
            @Override
            public long draw(long last) {
                long number = drawn.draw(last);
                while (holds(number)) {
                    number = drawn.draw(number);
                }
                return number;
            }

            @Override
            public boolean holds(long number) {
                return engine.acknowledged(source.apply(number)) > 0;
            }
        };
    }

    /// Requires that no engine has run meanwhile on files that were read as they were.
    private void requireSame() {
        if (files != null && !files.equals(files(directory))) {
            throw new EngineException(
                    Kind.SOURCE_CHANGED,
                    "An engine has begun to run meanwhile on data directory " + directory
                            + ", whose files were read as they were before. Compare again.");
        }
    }

    private static List<String> files(Path directory) {
        List<String> names = new ArrayList<>();
        try (Stream<Path> all = Files.walk(directory)) {
            all.filter(file -> !file.startsWith(directory.resolve(FOLDER)) && Files.isRegularFile(file))
                    .forEach(file -> names.add(file + " " + file.toFile().length() + " "
                            + file.toFile().lastModified()));
        } catch (IOException | UncheckedIOException e) {
            return List.of("A file went away: " + e.getMessage());
        }
        names.sort(null);
        return names;
    }

    /// Appends to a source that nobody else appends to.
    ///
    /// @param source its name
    private FolderRun.Intake intake(String source) {
        long[] next = {1};
        return (kind, lines, length) -> {
            Appended appended = kind == RecordKind.ROW
                    ? engine.appendRows(source, next[0], lines, length)
                    : engine.append(source, next[0], lines, length);
            next[0] = appended.acknowledged() + 1;
            return appended;
        };
    }
}
