package dev.onefold.cli.trial;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.run.FailOptions;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import dev.onefold.load.TradeRiskTotals;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `onefold demo`: generated load with everything wrong in it, into a process that is really killed, and totals
/// that are right.
@Command(
        name = "demo",
        description = {
            "Shows on generated load, with real kills, that the totals come out right.",
            "Makes trade-risk messages with duplicates, late and corrected ones, deletes and garbage among them; folds them in a"
                    + " process that is killed twice (SIGKILL) and started again; and compares the totals with those that"
                    + " the producer kept by itself.",
            "With --on aws-local the same messages go through what runs on AWS: the functions, the tables and the template,"
                    + " on servers that stand in for those of AWS, while processes are killed and requests fail. It needs"
                    + " Maven and Node, and no account; what it fetches, it fetches once.",
            "Exit code 1 if anything differs."
        },
        footer = {
            "  onefold demo",
            "  The same on AWS's interfaces, all on this machine:",
            "    onefold demo --on aws-local",
            "  In a browser, for a minute:",
            "    onefold demo --page",
            "  A table of failures and delays, in four minutes:",
            "    onefold demo --fail 1%",
            "  Keep what it makes, to look at it with the other commands:",
            "    onefold demo --keep demo",
            "    onefold query demo/trade-risk.yaml --data demo/data"
        })
public final class DemoCommand implements Callable<Integer> {
    static final String PIPELINE = "trade-risk.yaml";

    private static final long BATCH_MESSAGES = 20_000;
    private static final long FAIL_EVENTS = 60_000; // Thirty seconds a row.
    private static final long PAGE_EVENTS = 600_000; // A minute.

    private final Caller caller;

    @Option(
            names = "--on",
            paramLabel = "RUNTIME",
            description = "What folds them: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Runtime runtime = Runtime.embedded;

    @Option(
            names = "--events",
            paramLabel = "N",
            description =
                    "How many messages. Default: 2,000,000; on aws-local 20,000; with --page 600,000; with --fail 60,000 a row.")
    private @Nullable Long eventsWanted;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "The number that the messages follow from. Default: ${DEFAULT-VALUE}.")
    private long seed = 42;

    @Option(
            names = "--keep",
            paramLabel = "DIR",
            description = "Makes everything in this new folder, and leaves it there. Default: a temporary one.")
    private @Nullable String keep;

    @Option(
            names = "--page",
            description =
                    "Sends the messages to 'onefold serve', slowly enough to watch its page in a browser, and goes on"
                            + " serving until Enter is pressed.")
    private boolean page;

    @Option(
            names = FailOptions.FAIL,
            arity = "1..*",
            paramLabel = FailOptions.LABEL,
            description =
                    "Sends the messages, 2,000 a second, to a service that dies behind so many of a hundred passes"
                            + " through a stage and is started again; and prints delays with and without failures. Stages:"
                            + " read, journal, fold, write, checkpoint. Without a stage: each of them, and all together.")
    private List<String> failures = List.of();

    /// As it is written on the command line.
    enum Runtime {
        embedded(2_000_000),
        aws_local(20_000);

        private final long events;

        Runtime(long events) {
            this.events = events;
        }

        @Override
        public String toString() {
            return name().replace('_', '-');
        }
    }

    public DemoCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        long events = events();
        if (events < 1 || events > TradeRiskLoad.MESSAGES_MAX) {
            throw CommandFailure.usage("--events is 1 to " + Words.count(TradeRiskLoad.MESSAGES_MAX) + ".");
        }
        if (runtime == Runtime.aws_local && keep != null) {
            throw CommandFailure.usage("--keep is of the embedded demo: on aws-local all tables are in memory.");
        }
        if (runtime == Runtime.aws_local && page) {
            throw CommandFailure.usage("--page is of the embedded demo.");
        }
        List<List<String>> rows = failures.isEmpty() ? List.of() : FailedRuns.rows(failures);
        if (!rows.isEmpty() && (runtime == Runtime.aws_local || page)) {
            throw CommandFailure.usage("--fail is of the embedded demo without --page.");
        }
        try (Workplace place = keep == null ? Workplace.temporary("onefold-demo") : Workplace.kept(caller, keep)) {
            Path folder = place.folder();
            if (!rows.isEmpty()) {
                return fail(folder, rows).code();
            }
            return (page ? demonstratePage(folder) : runtime == Runtime.embedded ? demonstrate(folder) : onAws(folder))
                    .code();
        }
    }

    private long events() {
        if (eventsWanted != null) {
            return eventsWanted;
        }
        return !failures.isEmpty() ? FAIL_EVENTS : page ? PAGE_EVENTS : runtime.events;
    }

    private ExitCode onAws(Path folder) throws IOException {
        StandIns standIns = StandIns.of("demo --on aws-local");
        TradeRiskTotals right = prepare(
                folder,
                "a Kinesis stream; three Lambda functions, on DynamoDB. All of it runs on this machine, as the template"
                        + " says, and much goes wrong on the way.");
        Pipeline pipeline =
                PipelineArgument.read(caller, folder.resolve(PIPELINE).toString());
        return standIns.demonstrate(caller, folder.resolve(KilledRun.MESSAGES), pipeline, right);
    }

    private ExitCode demonstratePage(Path folder) throws IOException, InterruptedException {
        TradeRiskTotals right = prepare(folder, "a service that is killed twice.");
        try (ServedRun run = ServedRun.start(caller, folder)) {
            say("Open " + run.page() + " in a browser.");
            run.send(load());
            Comparison comparison = run.compare(right);
            say(comparison.text(caller.screen()));
            say("The page goes on at " + run.page() + ". Enter ends the demo.");
            caller.in().read();
            return comparison.exitCode();
        }
    }

    private ExitCode fail(Path folder, List<List<String>> rows) throws IOException, InterruptedException {
        announce(
                "a service that dies on purpose. A request is due each 100 ms; its delay is the time from then until it"
                        + " is acknowledged, and so in the totals.");
        pipeline(folder);
        return new FailedRuns(caller, folder, this::load).print(rows);
    }

    private ExitCode demonstrate(Path folder) throws IOException, InterruptedException {
        TradeRiskTotals right = prepare(folder, "a process that is killed twice.");
        KilledRun.Outcome outcome = new KilledRun(caller, folder, right.bytes()).run();
        say(Words.wrap(outcome.story(), caller.screen().width()) + "\n");
        Comparison comparison;
        try (Engine engine = EmbeddedEngine.open(folder.resolve(KilledRun.DATA), Settings.defaults())) {
            comparison = new Comparison(engine.query(Query.all(Rollup.MAIN)), engine.counts(), right);
        }
        say(comparison.text(caller.screen()));
        long messages = right.made().messages();
        String summary = Words.count(messages, "message") + " in " + Words.duration(outcome.elapsed())
                + ", all starts and recoveries included: " + Words.rate(messages, outcome.elapsed())
                + ". While the process was up, it folded " + Words.rate(outcome.recordsFolded(), outcome.folding())
                + ".";
        say(Words.wrap(summary, caller.screen().width()) + "\n");
        sayNext();
        return comparison.exitCode();
    }

    private TradeRiskLoad load() {
        return new TradeRiskLoad(TradeRiskMix.DEMO, events(), seed);
    }

    private void announce(String where) {
        say(Words.wrap(
                "Onefold demo: " + Words.count(events(), "trade-risk message") + " (seed " + seed
                        + ") with 5 % duplicates, 5 % out of order, 20 % corrections of value and hierarchy, 1 % deletes and"
                        + " 0.1 % malformed, into " + where,
                caller.screen().width()));
    }

    private static void pipeline(Path folder) throws IOException {
        try (InputStream pipeline = DemoCommand.class.getResourceAsStream(PIPELINE)) {
            Files.copy(
                    Objects.requireNonNull(pipeline, "The build puts the pipeline beside this class"),
                    folder.resolve(PIPELINE));
        }
    }

    /// Announces the demo, and puts the pipeline and its messages into the folder.
    private TradeRiskTotals prepare(Path folder, String where) throws IOException {
        long events = events();
        announce(where);
        pipeline(folder);
        TradeRiskLoad load = load();
        long startNanos = System.nanoTime();
        try (OutputStream file = Files.newOutputStream(folder.resolve(KilledRun.MESSAGES));
                Progress progress =
                        Progress.begin(caller, Progress.Mode.auto, "Making ", Progress.Unit.RECORDS, events)) {
            while (load.write(file, BATCH_MESSAGES) > 0) {
                progress.at(events - load.remaining(), events - load.remaining());
            }
        }
        TradeRiskTotals right = load.totals();
        say("Made " + Words.bytes(right.bytes()) + " in "
                + Words.duration(Duration.ofNanos(System.nanoTime() - startNanos))
                + "; the producer kept its own totals meanwhile.");
        return right;
    }

    private void sayNext() {
        String launcher = System.getProperty("onefold.launcher", "");
        String onefold = launcher.isEmpty() ? "onefold" : caller.shown(Path.of(launcher));
        String command = "  " + (onefold.contains("/") || launcher.isEmpty() ? onefold : "./" + onefold);
        String folder = keep == null ? "demo" : caller.shown(caller.path(keep));
        String pipeline = folder + "/" + PIPELINE + " --data " + folder + "/data";
        say("Try next:");
        if (keep == null) {
            say(command + " demo --keep demo");
        }
        say(command + " query " + pipeline + " --group PV");
        say(command + " dead-letters " + pipeline + " list");
        say(command + " run YOUR.yaml --input YOUR.ndjson    (docs/pipelines.md says how)");
    }

    private void say(String text) {
        caller.print(text + "\n");
        caller.out().flush();
    }
}
