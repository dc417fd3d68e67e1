package dev.onefold.cli.batches;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.Engine;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// `onefold batches`: what was sealed and delivered.
@Command(
        name = "batches",
        synopsisSubcommandLabel = "[COMMAND]",
        description = {
            "Shows the batches of a pipeline, decides about those that wait for a person, and proves a folder of"
                    + " delivered ones.",
            "The pipeline comes first, the verb behind it; without a verb it is list. Only verify has no pipeline: it reads"
                    + " nothing but the folder."
        },
        footer = {
            "  Which batches are not delivered, and why:",
            "    ${COMMAND-FULL-NAME} quakes.yaml list",
            "  Try one again that was put aside:",
            "    ${COMMAND-FULL-NAME} quakes.yaml release 42",
            "  A person knows that it has arrived:",
            "    ${COMMAND-FULL-NAME} quakes.yaml release 42 --delivered",
            "  Prove what a receiver has:",
            "    ${COMMAND-FULL-NAME} verify out"
        })
public final class BatchesCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    private BatchesCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    /// The command with its verbs.
    public static CommandLine commandLine(EngineArgument pipeline) {
        BatchesCommand all = new BatchesCommand(pipeline);
        CommandLine line = new CommandLine(all)
                .addSubcommand(new ListCommand(all))
                .addSubcommand(new ShowCommand(all))
                .addSubcommand(new ReleaseCommand(all))
                .addSubcommand(new ExportCommand(all))
                .addSubcommand(new SealCommand(all))
                .addSubcommand(new VerifyCommand(pipeline));
        withoutPipeline(line.getCommandSpec());
        return line;
    }

    /// A folder is proven without a pipeline.
    private static void withoutPipeline(CommandSpec spec) {
        for (PositionalParamSpec parameter : spec.positionalParameters()) {
            spec.remove(parameter);
            spec.add(PositionalParamSpec.builder(parameter)
                    .required(false)
                    .arity("0..1")
                    .build());
        }
    }

    @Override
    public Integer call() throws IOException {
        return new ListCommand(this).call();
    }

    boolean isDeployed() {
        return pipeline.place().equals("AWS");
    }

    Caller caller() {
        return pipeline.caller();
    }

    /// The action of a verb on the batches.
    interface Verb {
        ExitCode on(SealedBatches batches) throws IOException;
    }

    int read(Verb verb) throws IOException {
        return pipeline.read(engine -> verb.on(batches(engine))).code();
    }

    int use(Verb verb) throws IOException {
        return pipeline.use(engine -> verb.on(batches(engine))).code();
    }

    private static SealedBatches batches(Engine engine) {
        if (!(engine.pipeline().fold() instanceof Batching)) {
            throw CommandFailure.usage("Pipeline " + engine.pipeline().name()
                    + " makes no batches: it has no batch section. 'onefold query' shows totals.");
        }
        return engine.batches();
    }

    static BatchNumber number(String text) {
        return BatchNumber.read(text)
                .orElseThrow(() -> CommandFailure.usage(
                        "'" + text + "' is not the number of a batch. Write it like 42 or 000042.1."));
    }

    static Line line(SealedBatches batches, BatchNumber number) {
        return batches.find(number)
                .orElseThrow(() -> new CommandFailure(
                        ExitCode.DIFFERENT,
                        "There is no batch " + number
                                + ", or it was delivered so long ago that nothing more is known of" + " it."));
    }
}
