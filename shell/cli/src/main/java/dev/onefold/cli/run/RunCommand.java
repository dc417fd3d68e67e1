package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Logs;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.FullDisk;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.DataFolder;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold run`: folds input into the data directory.
@Command(
        name = "run",
        description = {
            "Folds input into the totals of a pipeline.",
            "Each event counts exactly once. Killed at any instant and started again, it goes on where it was. While it runs,"
                    + " all other commands work beside it.",
            "A file that was folded already is not folded twice, also under another name; one that was cut or changed is"
                    + " refused. SIGTERM and Ctrl-C stop it after a checkpoint."
        },
        footer = {
            "  Files, compressed or not:",
            "    onefold run trade-risk.yaml --input trades-1.ndjson trades-2.ndjson.gz",
            "  A log that is being written and rotated:",
            "    onefold run trade-risk.yaml --input trades.log --follow",
            "  A producer that deletes what is acknowledged, and goes on at line 5001:",
            "    producer --from 5001 |",
            "      onefold run trade-risk.yaml -i - --acknowledge --source p1 --from 5001",
            "  An SQS queue:",
            "    onefold run orders.yaml \\",
            "      --queue https://sqs.eu-central-1.amazonaws.com/123456789012/orders"
        })
public final class RunCommand implements Callable<Integer> {
    static final String STANDARD_INPUT = "-";
    private static final String PIPE_ADVICE =
            " To fold what comes through a pipe, send it to standard input, with --input -.";

    private final Caller caller;
    private final StopRequest stop;
    private final boolean signals;

    @Mixin
    private final PipelineArgument pipeline;

    @Option(
            names = {"-i", "--input"},
            arity = "1..*",
            paramLabel = "FILE",
            description = "Files to fold, one after the other; - is standard input. A name ending in .gz or .zst is"
                    + " decompressed.")
    private List<String> inputs = List.of();

    @Option(
            names = {"-f", "--follow"},
            description =
                    "Keeps reading the last file as it grows. When another file takes its name (rotation), the old one is"
                            + " finished first.")
    private boolean follow;

    @Option(
            names = "--forget-rotated",
            description =
                    "With --follow: goes on with the file that has the name now, though the one before was rotated away"
                            + " unfinished and is not found any more.")
    private boolean forgetRotated;

    @Option(
            names = "--separate",
            description =
                    "Treats each new file as a separate one, even if it equals or extends a file that was folded under another"
                            + " name. Only a pipeline with neither versions nor ids ever asks for it.")
    private boolean separate;

    @Option(
            names = "--copy",
            description =
                    "Passes over a new file that equals one that was folded under another name. Only a pipeline with"
                            + " neither versions nor ids ever asks for it.")
    private boolean copy;

    @Option(
            names = "--accept-loss",
            description = "When the pipeline file has changed: goes on also if fields that the rows hold are lost for"
                    + " ever by that. 'onefold check PIPELINE --data DIR' says beforehand what a change costs.")
    private boolean acceptLoss;

    @Option(
            names = "--acknowledge",
            description =
                    "On standard input: after each force to disk, writes to standard output how many lines are forced.")
    private boolean acknowledge;

    @Option(
            names = "--source",
            paramLabel = "NAME",
            description = "On standard input: whose lines these are. Together with --from.")
    private @Nullable String source;

    @Option(
            names = "--from",
            paramLabel = "LINE",
            description =
                    "On standard input: number, from 1, of the first line that is sent now. Lines that are acknowledged"
                            + " already are passed over; a gap is refused.")
    private @Nullable Long from;

    @Option(
            names = "--accept-gap",
            arity = "1..*",
            paramLabel = "PARTITION:FROM-TO",
            description = "With a topic that the pipeline reads: goes on behind records that the topic lost before they"
                    + " were folded, as in trades/3:30-60. 'onefold status' says so for ever.")
    private List<String> acceptedGaps = List.of();

    @Option(
            names = "--progress",
            paramLabel = "MODE",
            description =
                    "How progress is shown on standard error: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}, a bar"
                            + " on a terminal, else lines. ticks is for programs: bytes folded, bytes in all, records.")
    private Progress.Mode progress = Progress.Mode.auto;

    @Option(
            names = "--fail-on-rejected",
            description =
                    "Exit code 1 if a record of this run was rejected, and not only if each record of a source was. All"
                            + " records are folded all the same.")
    private boolean failOnRejected;

    @Option(
            names = "--fail-on-undelivered",
            description = "With batches: exit code 1 if a batch is not delivered at the end.")
    private boolean failOnUndelivered;

    @Option(
            names = "--seal",
            description =
                    "With batches: when the input has ended, seals the open batch at once instead of waiting for it.")
    private boolean seal;

    @Mixin
    private final QueueOptions queue = new QueueOptions();

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Mixin
    private final FailOptions fail = new FailOptions();

    public RunCommand(Caller caller) {
        this(caller, new StopRequest(), true);
    }

    private final FullDisk fullDisk;

    /// @param signals whether SIGTERM and SIGINT are this command's
    RunCommand(Caller caller, StopRequest stop, boolean signals) {
        this.caller = caller;
        pipeline = new PipelineArgument(caller);
        this.stop = stop;
        this.signals = signals;
        fullDisk = new FullDisk(caller, stop::isMade);
    }

    @Override
    public Integer call() throws IOException {
        requireSense();
        if (fail.isSupervising()) {
            return fail.supervise(caller, stop, signals);
        }
        DataDirectory data = pipeline.directoryWithFunction();
        for (String input : inputs) {
            if (!input.equals(STANDARD_INPUT)) {
                // What cannot be read is refused before a directory is made for it.
                InputFile.of(caller, input, PIPE_ADVICE);
                requireArrival(data, input);
            } else if (data.definition() != null) {
                Identity.ByMessage.problem(data.definition(), "a line of standard input")
                        .ifPresent(problem -> {
                            throw CommandFailure.usage(problem);
                        });
            }
        }
        Optional<TopicInput> topic =
                inputs.isEmpty() && !queue.isThere() ? TopicInput.of(caller, pipeline) : Optional.empty();
        if (topic.isEmpty() && !acceptedGaps.isEmpty()) {
            throw CommandFailure.usage("--accept-gap is for a pipeline that reads a topic ('from' under 'input').");
        }
        if (inputs.isEmpty() && !queue.isThere() && topic.isEmpty() && !canDeliver(data)) {
            throw CommandFailure.usage("What to fold is missing: say --input FILE, --input - or --queue URL. Only a"
                    + " pipeline with batches that has collected some goes without, and delivers them.");
        }
        queue.requirePossible(data.definition());
        RunningEngine.requirePossible(caller, pipeline);
        if (signals) {
            stop.makeOnSignals();
        }
        if (follow || queue.isThere() || topic.isPresent() || inputs.contains(STANDARD_INPUT)) { // It may run for long.
            Logs.Sink log = Logs.of(caller);
            Logs.to((level, message, where) -> {
                if (level == System.Logger.Level.WARNING) { // This command reports an error itself.
                    log.write(level, message, where);
                }
            });
        }
        try {
            return fold(data, topic);
        } catch (EngineException e) {
            if (!stop.isMade() || e.kind() != EngineException.Kind.NO_SPACE) {
                throw e;
            }
            caller.note("Stopped while " + fullDisk.reason() + ". Nothing that was acknowledged is lost. When that is"
                    + " mended, run the same command again: it goes on where this one was.");
            return stop.exitCodeOr(ExitCode.STORAGE).code();
        } finally {
            Logs.off();
        }
    }

    private static boolean canDeliver(DataDirectory data) {
        return data.definition() != null
                && data.definition().fold() instanceof Batching
                && DataFolder.exists(data.path());
    }

    private static void requireArrival(DataDirectory data, String input) {
        Pipeline definition = data.definition();
        if (definition != null) {
            String line = "a line of the file " + input;
            Horizon.problem(definition, line)
                    .or(() -> Identity.ByMessage.problem(definition, line))
                    .ifPresent(problem -> {
                        throw CommandFailure.usage(problem);
                    });
        }
    }

    private int fold(DataDirectory data, Optional<TopicInput> topic) throws IOException {
        Settings given = fail.into(engine.settings());
        Settings settings = given.withSpaceListener(fullDisk).withPause(() -> {
            given.machine().pause().run();
            fullDisk.requireGoingOn();
        });
        try (RunningEngine running = RunningEngine.open(caller, pipeline, settings, acceptLoss)) {
            if (running.delivering().isEmpty() && (seal || failOnUndelivered)) {
                throw CommandFailure.usage("--seal and --fail-on-undelivered are for a pipeline with batches.");
            }
            return foldInto(running, data, topic);
        }
    }

    private int foldInto(RunningEngine running, DataDirectory data, Optional<TopicInput> topic) throws IOException {
        EmbeddedEngine owned = running.engine();
        if (separate && copy) {
            throw CommandFailure.usage(
                    "Say --separate or --copy: a file with the content of another one counts, or not.");
        }
        Intake.EqualFiles equal =
                separate ? Intake.EqualFiles.SEPARATE : copy ? Intake.EqualFiles.COPIES : Intake.EqualFiles.UNSAID;
        Intake intake = new Intake(caller, owned, stop, progress, equal);
        Summary summary = new Summary(caller, owned, data, pipeline.dataAgain());
        ExitCode exitCode = ExitCode.DONE;
        for (int i = 0; i < inputs.size() && !stop.isMade() && exitCode == ExitCode.DONE; i++) {
            String input = inputs.get(i);
            if (input.equals(STANDARD_INPUT)) {
                exitCode = intake.standardInput(new Intake.Lines(source, from, acknowledge));
            } else if (follow && i == inputs.size() - 1) {
                intake.follow(input, forgetRotated);
            } else {
                intake.file(input);
            }
        }
        if (queue.isThere()) {
            exitCode = queue.fold(caller, owned, stop);
        } else if (topic.isPresent()) {
            exitCode = topic.get().fold(caller, owned, topic.get().gaps(acceptedGaps), stop);
        }
        summary.folded();
        RunDeliveries deliveries = running.delivering().orElse(null);
        if (deliveries != null) {
            deliveries.await(seal, stop);
        }
        running.publishLast(stop);
        summary.print(acknowledge ? caller.err() : caller.out(), intake.stopped());
        if (deliveries != null) {
            (acknowledge ? caller.err() : caller.out()).print(deliveries.text());
            if (failOnUndelivered && deliveries.undelivered() > 0) {
                exitCode = ExitCode.DIFFERENT;
            }
        }
        if (intake.hasRejectedSource()
                || failOnRejected && summary.rejected() > 0
                || summary.hasOtherTablesAlone() && !stop.isMade()) {
            exitCode = ExitCode.DIFFERENT;
        }
        return (exitCode == ExitCode.DONE ? stop.exitCodeOr(exitCode) : exitCode).code();
    }

    private void requireSense() {
        boolean standardInput = inputs.contains(STANDARD_INPUT);
        queue.requireSense(!inputs.isEmpty());
        if (standardInput && inputs.indexOf(STANDARD_INPUT) < inputs.size() - 1) {
            throw CommandFailure.usage("Standard input (-) comes last, and once.");
        }
        if (standardInput && fail.isSupervising()) {
            throw CommandFailure.usage(
                    "--fail is not for standard input: a process that dies has read lines that nobody"
                            + " sends again. Fold a file, or send the lines to 'onefold serve --fail …'.");
        }
        if (!standardInput && (acknowledge || source != null || from != null)) {
            throw CommandFailure.usage("--acknowledge, --source and --from are for standard input: --input -");
        }
        if (standardInput && (follow || forgetRotated)) {
            throw CommandFailure.usage("--follow is for a file; standard input is read to its end anyway.");
        }
        if (forgetRotated && !follow) {
            throw CommandFailure.usage("--forget-rotated is for --follow.");
        }
        if ((source == null) != (from == null)) {
            throw CommandFailure.usage(
                    "--source and --from go together: whose lines, and the number of the first one.");
        }
        if (source != null && source.isEmpty()) {
            throw CommandFailure.usage("--source is empty. It names whose lines these are.");
        }
        if (from != null && from < 1) {
            throw CommandFailure.usage("--from is the number of a line, from 1; not " + from + ".");
        }
    }
}
