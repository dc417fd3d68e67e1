package dev.onefold.cli.seed;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.Sync;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.FileRows;
import dev.onefold.tables.FirstRows;
import dev.onefold.tables.QueryRows;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.Seeder;
import java.io.IOException;
import java.time.Duration;
import software.amazon.awssdk.core.exception.SdkException;

/// Runs a seeding, shows how far it is, and says what it came to.
final class Run {
    private final Caller caller;
    private final SeedOptions options;
    private final StopRequest stop;
    private final String letters;

    /// @param letters the command that shows dead letters, without its verb
    Run(Caller caller, SeedOptions options, StopRequest stop, String letters) {
        this.caller = caller;
        this.options = options;
        this.stop = stop;
        this.letters = letters;
    }

    /// Seeds.
    ///
    /// @param pipeline that the engine serves
    ExitCode seed(Pipeline pipeline, Opened opened, Sync sync) throws IOException {
        long start = System.nanoTime();
        String log = Rules.orRefused(() -> RowVersions.log(pipeline, opened.stream()));
        String identity = (log.isEmpty() ? "" : log + " ") + opened.source().identity();
        try (Sync.Run seed = sync.seed(identity, opened.source().asOf(), options.restart);
                Progress progress = Progress.begin(
                        caller,
                        options.progress,
                        "seed",
                        opened.source() instanceof FileRows ? Progress.Unit.BYTES : Progress.Unit.RECORDS,
                        opened.source().extent().total())) {
            if (seed.continued() > 0) {
                caller.note(
                        hasMarks(opened)
                                ? "Goes on where an interrupted seeding has stopped; --restart reads all rows again."
                                : "An earlier seeding of this query was interrupted; it is read from its beginning.");
            }
            RowForm form = RowVersions.form(pipeline, opened.stream(), seed.number());
            Seeder.Intake intake = form.intake(seed);
            Seeder seeding = new Seeder(
                    opened.source(),
                    seed,
                    new Seeder.Way(form, RecordEnds.of(pipeline), opened.rate()),
                    seed.continued() > 0
                            ? intake
                            : new FirstRows(
                                    pipeline, form.kind(), intake, opened.rate().ofSecond()),
                    listener(progress));
            Seeder.Report report = seeding.run();
            caller.print(text(opened, report, Duration.ofNanos(System.nanoTime() - start)));
            if (!report.finished()) {
                return stop.exitCodeUnfinished();
            }
            return options.failOnRejected && report.counts().rejected() > 0 ? ExitCode.DIFFERENT : ExitCode.DONE;
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT, String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERRUPTED;
        } catch (SdkException | IllegalStateException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Not all rows could be written: " + Reason.of(e) + "\nThose that were written are in. "
                            + again(opened) + " A lower --rate helps where tables are throttled.",
                    e);
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Not all rows of " + opened.shown() + " could be read: "
                            + String.valueOf(e.getMessage()).replaceFirst("\\.$", "")
                            + ".\nThose that were read are in. " + again(opened),
                    e);
        }
    }

    private static boolean hasMarks(Opened opened) {
        return !(opened.source() instanceof QueryRows);
    }

    private static String again(Opened opened) {
        return hasMarks(opened)
                ? "The same command goes on there."
                : "The same command reads the query from its beginning, and rows that are in change nothing.";
    }

    private Seeder.Listener listener(Progress progress) {
        return new Seeder.Listener() {
            @Override
            public void at(long done, long rows) {
                progress.at(done, rows);
            }

            @Override
            public boolean stop() {
                return stop.isMade();
            }
        };
    }

    private String text(Opened opened, Seeder.Report report, Duration elapsed) {
        Counts counts = report.counts();
        StringBuilder text = new StringBuilder();
        if (!report.finished()) {
            text.append("Stopped. ").append(again(opened)).append("\n");
        }
        text.append("Seeded ").append(Words.count(report.rows(), "row")).append(" in ");
        text.append(Words.duration(elapsed));
        text.append(report.rows() > 0 ? " (" + Words.rate(report.rows(), elapsed) + ").\n" : ".\n");
        if (report.rows() > 0) {
            text.append(Words.line("new", counts.accepted()));
            text.append(Words.line("already there", counts.duplicate()));
            text.append(Words.line("newer live", counts.stale()));
            text.append(Words.line("conflicting", counts.conflicting()));
            text.append(Words.line("rejected", counts.rejected()));
            text.append(counts.silent() > 0 ? Words.line("silent", counts.silent()) : "");
        }
        if (counts.conflicting() + counts.rejected() > 0) {
            text.append("See '").append(letters).append(" list'.\n");
        }
        return text.toString();
    }
}
