package dev.onefold.cli.seed;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.seed.AgainstOptions.Format;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import dev.onefold.core.Sync;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.ExportRows;
import dev.onefold.tables.FileRows;
import dev.onefold.tables.QueryRows;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.compare.EngineCatchUp;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import software.amazon.awssdk.core.exception.SdkException;

/// Compares an engine's rows with the table that they come from, and repairs them if that is wanted. One
/// thread.
public final class Against {
    private final Caller caller;
    private final AgainstOptions options;
    private final StopRequest stop;
    private final PlaceOptions place;

    /// @param place where the source is, if it is on AWS
    public Against(Caller caller, AgainstOptions options, StopRequest stop, PlaceOptions place) {
        this.caller = caller;
        this.options = options;
        this.stop = stop;
        this.place = place;
    }

    /// A comparison.
    @FunctionalInterface
    public interface Once {
        ExitCode run() throws IOException;
    }

    /// Compares once, or again and again until somebody stops it.
    public ExitCode every(Once once) throws IOException {
        if (!options.isRepeated()) {
            return once.run();
        }
        Duration every = options.every();
        while (!stop.isMade()) {
            long next = System.nanoTime() + every.toNanos();
            try {
                once.run();
            } catch (IOException | RuntimeException e) {
                if (e instanceof CommandFailure failure && failure.exitCode() == ExitCode.USAGE) {
                    throw failure; // It would be the same each time.
                }
                caller.note("Not compared: " + e.getMessage());
            }
            caller.out().flush();
            while (!stop.isMade() && System.nanoTime() < next) {
                pause(next - System.nanoTime());
            }
        }
        return stop.exitCodeOr(ExitCode.DONE);
    }

    private void pause(long nanos) {
        try {
            Thread.sleep(Duration.ofNanos(Math.min(nanos, Duration.ofMillis(50).toNanos())));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop.make(ExitCode.INTERRUPTED);
        }
    }

    /// Compares an engine's rows.
    public ExitCode compare(Engine engine) throws IOException {
        Pipeline pipeline = engine.pipeline();
        requirePossible(pipeline);
        EngineArgument.require(engine, Capability.SYNC);
        Sync sync = engine.sync(); // It notes how the data are, before anything of the source is read.
        try (Clients clients = new Clients(place::place);
                Opened opened = new SeedSources(caller, options.asSeed(), clients, pipeline, options.rate()).open()) {
            requireStrong(opened);
            String ours =
                    sync.cost().map(cost -> "\n" + Announcement.ofRows(cost)).orElse("");
            caller.note(Announcement.compared(pipeline, opened, options.rate()) + ours);
            sync.stream()
                    .ifPresent(read -> Rules.require(() -> {
                        RowVersions.requireTable(opened.stream(), read);
                        RowVersions.requireKind(pipeline, opened.stream(), read);
                    }));
            try (Sync.Run run = options.repair ? sync.repair() : sync.compare()) {
                SourceComparison.Waiting waiting =
                        new SourceComparison.Waiting(options.lag(), stop::isMade, caller::note);
                return compare(engine, run, opened, new EngineCatchUp(engine, sync, run, opened.stream(), waiting));
            }
        }
    }

    private void requirePossible(Pipeline pipeline) {
        try {
            SourceComparison.requireComparable(pipeline);
            if (options.repair) {
                SourceComparison.requireRepairable(pipeline);
            }
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e.getMessage() + ".");
        }
    }

    /// A source must say how a row is now.
    private void requireStrong(Opened opened) throws IOException {
        switch (opened.source()) {
            case QueryRows query -> {
                if (query.isStandby()) {
                    throw refused("The database only follows another one, and may not have what is committed there."
                            + " Compare with the primary.");
                }
            }
            case FileRows _ -> {
                if (options.repair && !options.atRest) {
                    throw refused("A file says how the table was when it was written. If the table has not changed"
                            + " since, say --at-rest; else a repair would bring old rows back.");
                }
            }
            case ExportRows _ ->
                throw refused("An export says how the table was when it was taken. Compare with the table itself:"
                        + " dynamodb:TABLE.");
            default -> {}
        }
    }

    private static CommandFailure refused(String message) {
        return new CommandFailure(ExitCode.DIFFERENT, message);
    }

    private String advice(Pipeline pipeline, RowSource source) {
        if (options.repair || pipeline.input().format() instanceof Input.Format.Csv) {
            return "";
        }
        return source instanceof FileRows && !options.atRest ? "--repair --at-rest" : "--repair";
    }

    private ExitCode compare(Engine engine, Sync.Run run, Opened opened, EngineCatchUp passing) throws IOException {
        Pipeline pipeline = engine.pipeline();
        long start = System.nanoTime();
        long own = run.number();
        SourceComparison.Side side = new SourceComparison.Side(
                opened.source(),
                Rules.orRefused(() -> RowVersions.form(pipeline, opened.stream(), options.repair ? own : 1)),
                opened.rate(),
                passing);
        Optional<SourceComparison.Repairing> repairing = options.repair
                ? Optional.of(new SourceComparison.Repairing(
                        RowVersions.areByPlace(pipeline) ? RowVersions.generation(pipeline, opened.stream()) : 0,
                        own,
                        options.removesMany,
                        run::appendRows))
                : Optional.empty();
        try (Progressing progress = new Progressing(opened)) {
            Report report = new SourceComparison(engine, side, repairing, progress).run();
            if (options.repair || !report.isClean()) {
                run.finish();
            }
            ReportText text = new ReportText(pipeline, report, advice(pipeline, opened.source()));
            caller.print(
                    options.format == Format.json
                            ? text.json()
                            : text.text(opened.shown(), Duration.ofNanos(System.nanoTime() - start)));
            return report.isEqual() ? ExitCode.DONE : ExitCode.DIFFERENT;
        } catch (InterruptedException | CancellationException e) {
            if (!stop.isMade()) {
                Thread.currentThread().interrupt();
            }
            caller.note("Stopped. Not all rows were compared.");
            return ExitCode.INTERRUPTED; // After SIGTERM, too: nobody may take it for 'equal'.
        } catch (IOException | SdkException | IllegalStateException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The rows were not all compared: " + opened.shown() + ": "
                            + Reason.of(e).replaceFirst("\\.$", "") + ".",
                    e);
        }
    }

    /// Shows how far each reading is.
    private final class Progressing implements SourceComparison.Listener, AutoCloseable {
        private final Opened opened;
        private Progress progress;

        Progressing(Opened opened) {
            this.opened = opened;
            progress = begin(1);
        }

        private Progress begin(long nth) {
            return Progress.begin(
                    caller,
                    options.progress,
                    nth == 1 ? "compare" : "look again",
                    opened.source() instanceof FileRows ? Progress.Unit.BYTES : Progress.Unit.RECORDS,
                    opened.source().extent().total());
        }

        @Override
        public void begins(long nth) {
            if (nth > 1) {
                progress.close();
                progress = begin(nth);
            }
        }

        @Override
        public void at(long done, long rows) {
            progress.at(done, rows);
        }

        @Override
        public boolean stop() {
            return stop.isMade();
        }

        @Override
        public void close() {
            progress.close();
        }
    }
}
