package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.FunctionText;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.look.FirstPipeline;
import dev.onefold.cli.run.DefinitionChangeText;
import dev.onefold.cli.run.InputCheck;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.TopicInput;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Horizon;
import dev.onefold.yaml.PipelineFunction;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold check`: is the pipeline file right?
@Command(
        name = "check",
        description = {
            "Validates a pipeline file.",
            "Each problem is shown with its line and column, the value that stands there, and"
                    + " what would be right; the exit code is 1 then.",
            "With --data, also says whether totals that were folded with an earlier version of the file can follow:"
                    + " from the rows, by reading files again, or not at all (exit code 1). Changes nothing.",
            "Of a function (process) it shows the types that were found, what its order promises, which records are"
                    + " accepted depending on their order of arrival, and with --data what another version or jar comes"
                    + " to."
        },
        footerHeading = "%nExample:%n",
        footer = {
            "  onefold check --input trades.csv > trades.yaml",
            "  onefold check trades.yaml --input trades.csv",
            "  onefold check trades.yaml --connect",
            "  onefold check trades.yaml --data onefold-data/trades"
        })
final class CheckCommand implements Callable<Integer> {
    private final Caller caller;

    @Parameters(paramLabel = "PIPELINE", arity = "0..1", description = "The pipeline file.")
    private @Nullable String file;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description =
                    "Real input: says what the pipeline makes of its first 100,000 records, and why it would reject"
                            + " any (exit code 1). Without PIPELINE, writes a first pipeline file for it.")
    private @Nullable String input;

    @Option(
            names = "--connect",
            description = "Asks Kafka what the topic under 'from' is, and folds its first records as with --input.")
    private boolean isConnecting;

    @Option(names = "--data", paramLabel = "DIR", description = "A data directory of the pipeline.")
    private @Nullable String data;

    CheckCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() throws IOException {
        InputFile real = input == null ? null : InputFile.of(caller, input);
        if (file == null) {
            if (real == null) {
                throw CommandFailure.usage(
                        "Name a pipeline file to be checked, or an input (--input FILE) to begin one.");
            }
            try {
                caller.print(FirstPipeline.of(caller, real));
            } catch (EOFException | ZipException damaged) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT, caller.shown(real.path()) + " cannot be read: " + damaged.getMessage());
            }
            return ExitCode.DONE.code();
        }
        Pipeline pipeline = PipelineArgument.read(caller, file);
        PipelineFunction code =
                pipeline.fold() instanceof Processing ? PipelineArgument.function(caller, file, pipeline) : null;
        pipeline = code == null ? pipeline : code.function().pipeline();
        caller.print(caller.shown(caller.path(file)) + " is right: pipeline " + pipeline.name() + ", " + parts(pipeline)
                + ".\n");
        if (pipeline.fold() instanceof Processing processing) {
            function(pipeline, processing);
        }
        horizon(pipeline);
        keep(pipeline);
        message(pipeline);
        ExitCode read = real == null ? ExitCode.DONE : InputCheck.of(caller, pipeline, code, real);
        if (isConnecting && read == ExitCode.DONE) {
            read = connect(pipeline, code, file);
        }
        return (data == null || read != ExitCode.DONE ? read : change(pipeline, caller.path(data))).code();
    }

    private ExitCode connect(Pipeline pipeline, @Nullable PipelineFunction code, String file) throws IOException {
        if (!(pipeline.origin() instanceof Origin.Kafka kafka)) {
            throw CommandFailure.usage("--connect needs a topic in the pipeline file: 'from: {kafka: …}' under input.");
        }
        Path folder = caller.path(file).toAbsolutePath().getParent();
        return InputCheck.ofTopic(
                caller, pipeline, code, TopicInput.of(caller, folder == null ? caller.path("") : folder, kafka));
    }

    private static String parts(Pipeline pipeline) {
        List<Rollup> rollups = Rollups.of(pipeline).all();
        int measures =
                rollups.stream().mapToInt(rollup -> rollup.figures().size()).sum();
        String totals = Words.count(rollups.size(), "roll-up") + ", " + Words.count(measures, "measure");
        return switch (pipeline.fold()) {
            case Rollups _ -> totals;
            case Processing processing -> Words.count(processing.tables().size(), "table") + ", " + totals;
            case Batching batching ->
                "batches of " + Words.count(batching.size(), "record") + ", delivered to "
                        + batching.deliver().kind().word()
                        + (batching.order() == Batching.Order.KEY
                                ? " in the order of keys (not on AWS, where two records of a key have no order)"
                                        + (batching.size() > 1
                                                ? ". A batch that is put aside holds all its keys, and soon most"
                                                        + " others; with 'size: 1' a record holds its own key alone"
                                                : "")
                                : "");
        };
    }

    private void horizon(Pipeline pipeline) {
        String forgetting = Horizon.ofForgetting(pipeline).isPresent()
                ? " An id is forgotten a day after the horizon, and its row is freed. So the pipeline cannot be on AWS,"
                        + " where no id is."
                : " Beside a min, max or distinct no id is forgotten.";
        Horizon.of(pipeline)
                .ifPresent(horizon -> caller.printLine(Words.wrap(
                        horizon + forgetting
                                + " Files have no arrival, so 'run' takes the records from standard input (--input -).",
                        caller.screen().outWidth())));
    }

    private void keep(Pipeline pipeline) {
        if (Rollups.of(pipeline).areKept()) {
            caller.printLine(Words.wrap(
                    "An answer shows the time buckets that 'keep' says, behind the latest time of the records. Those"
                            + " before it end, and a day later their rows are freed. So the pipeline cannot be on AWS,"
                            + " where nothing ends.",
                    caller.screen().outWidth()));
        }
    }

    private void message(Pipeline pipeline) {
        if (pipeline.input().identity() instanceof Identity.ByMessage) {
            caller.printLine(Words.wrap(
                    "Each message counts once, by the id that its queue gives it; a record of a stream by stream, shard,"
                            + " sequence and sub-sequence number. A producer's second try is another message and counts,"
                            + " too. An id may be forgotten when the retention of the input has passed; today it is kept"
                            + " for ever. Lines have no message, so files and standard input are refused. (The field"
                            + " 'message' would be: id: [message].)",
                    caller.screen().outWidth()));
        }
    }

    private void function(Pipeline pipeline, Processing processing) {
        int width = caller.screen().outWidth();
        caller.printLine("");
        FunctionText.types(pipeline, processing)
                .forEach(line ->
                        caller.printLine(Words.wrap(Words.visible(line.getFirst() + "  " + line.getLast()), width)));
        caller.printLine("");
        FunctionText.promises(pipeline, processing).forEach(sentence -> caller.printLine(Words.wrap(sentence, width)));
    }

    /// The rules by which a newer edition reads records differently from the edition of the data, one sentence
    /// each.
    private static List<String> edition(Pipeline stored, Pipeline pipeline) {
        int here = stored.input().edition();
        int wanted = pipeline.ofDataOf(stored).input().edition();
        return Edition.between(pipeline.input(), Math.min(here, wanted), Edition.NEWEST).stream()
                .map(rule -> "The data is of edition " + here + " and the file "
                        + (wanted == here ? "goes on with it" : "asks for edition " + wanted) + ". In edition "
                        + Edition.NEWEST + " " + rule + ". 'edition: " + Edition.NEWEST
                        + "' under input reads the records so.")
                .toList();
    }

    private ExitCode change(Pipeline pipeline, Path directory) throws IOException {
        return EngineAccess.read(new DataDirectory(directory, pipeline.name(), null), caller, engine -> {
            int width = caller.screen().outWidth();
            FunctionText.changes(engine.pipeline(), pipeline)
                    .forEach(sentence -> caller.printLine(Words.wrap(Words.visible(sentence), width)));
            edition(engine.pipeline(), pipeline).forEach(sentence -> caller.printLine(Words.wrap(sentence, width)));
            TopicInput.lend(Optional.ofNullable(file).map(given -> new PipelineArgument(caller, given, null)), engine);
            DefinitionChange change = engine.change(pipeline);
            caller.printLine(DefinitionChangeText.of(change, caller.shown(directory)));
            return change instanceof DefinitionChange.Impossible ? ExitCode.DIFFERENT : ExitCode.DONE;
        });
    }
}
