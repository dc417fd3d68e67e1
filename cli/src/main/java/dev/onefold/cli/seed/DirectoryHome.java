package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.core.Engine;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.tables.SeedLog;
import dev.onefold.tables.Seeding;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A data directory on this machine, and the engine that owns it.
public final class DirectoryHome implements Home {
    /// Where the seedings and repairs of a data directory are.
    public static final String SEEDS = "seeds";

    /// The name of the lock that a repairing command holds, so that one command repairs at a time.
    public static final String ALONE = "resync";

    private final Supplier<Path> data;
    private final PlaceOptions place;
    private @Nullable Directory directory;

    /// @param data the data directory
    /// @param place where the source is, if it is on AWS
    public DirectoryHome(Supplier<Path> data, PlaceOptions place) {
        this.data = data;
        this.place = place;
    }

    @Override
    public Map<String, Object> options() {
        return Map.of();
    }

    @Override
    public Clients clients() {
        return new Clients(place::place);
    }

    @Override
    public void note(Engine engine) throws IOException {
        directory = new Directory(data.get(), engine);
    }

    @Override
    public String announcement(Engine engine) {
        return "";
    }

    @Override
    public Session begin(Engine engine, Opened opened, Work work) throws IOException {
        SeedLog log = new SeedLog(data.get().resolve(SEEDS));
        Directory before = Objects.requireNonNull(directory, "It was not noted how the data are");
        if (!work.repairs()) {
            return new InDirectory(engine, log, work, before, null);
        }
        Closeable alone = log.alone(ALONE)
                .orElseThrow(() -> new CommandFailure(
                        ExitCode.DIRECTORY,
                        "Rows of pipeline " + engine.pipeline().name()
                                + " are being repaired by another command; one repairs at a time."));
        try {
            SeedLog.Seed number = log.begin(ALONE, EngineIntake.numbers(engine, DirectoryHome::source), true);
            return new InDirectory(engine, log, work, before, new Turn(alone, number));
        } catch (IOException | RuntimeException e) {
            alone.close();
            throw e;
        }
    }

    private static String source(long number) {
        return ALONE + "/" + number;
    }

    private record Turn(Closeable alone, SeedLog.Seed number) {}

    private static final class InDirectory implements Session {
        private final Engine engine;
        private final SeedLog log;
        private final Work work;
        private final Directory directory;
        private final @Nullable Turn turn;

        InDirectory(Engine engine, SeedLog log, Work work, Directory directory, @Nullable Turn turn) {
            this.engine = engine;
            this.log = log;
            this.work = work;
            this.directory = directory;
            this.turn = turn;
        }

        @Override
        public Engine engine() {
            return engine;
        }

        @Override
        public long number() {
            return turn == null ? Long.MAX_VALUE : turn.number().number();
        }

        @Override
        public Passing passing() {
            return new EnginePassing(
                    engine, log, number(), new EnginePassing.Waiting(work.caller(), work.stop(), work.lag()));
        }

        @Override
        public Seeding.Intake intake() {
            return new EngineIntake(engine, source(number()), RecordKind.ROW);
        }

        @Override
        public void finish(Report report) throws IOException {
            if (turn != null) {
                turn.number().finish();
            } else if (!report.isEqual()) {
                directory.requireSame();
            }
        }

        @Override
        public void close() throws IOException {
            if (turn != null) {
                turn.number().close();
                turn.alone().close();
            }
        }
    }
}
