package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.FunctionText;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/// The pipeline that a command is about, which is deployed on AWS.
final class DeployedPipeline implements EngineArgument {
    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file, or the name of the pipeline.")
    private String pipeline = "";

    private final Caller caller;
    private final AwsCommand aws;

    private final boolean takesBatches;
    private @Nullable Engine opened; // By the last reading.

    /// @param takesBatches whether the command is for batch pipelines, too
    DeployedPipeline(Caller caller, AwsCommand aws, boolean takesBatches) {
        this.caller = caller;
        this.aws = aws;
        this.takesBatches = takesBatches;
    }

    /// @param pipeline its file or its name
    DeployedPipeline(Caller caller, AwsCommand aws, boolean takesBatches, String pipeline) {
        this(caller, aws, takesBatches);
        this.pipeline = pipeline;
    }

    @Override
    public Caller caller() {
        return caller;
    }

    @Override
    public Capabilities capabilities() {
        return AwsEngine.CAPABILITIES;
    }

    @Override
    public String place() {
        return "AWS";
    }

    @Override
    public String command(String verb, String name) {
        return "onefold aws " + verb + " " + name;
    }

    private @Nullable Pipeline definition() {
        Pipeline read = PipelineArgument.readOrNamed(caller, pipeline);
        if (read != null && !takesBatches) {
            AwsCommand.requirePossible(read);
        }
        return read;
    }

    @Override
    public boolean isOther(Engine engine) {
        return isOther(definition(), engine);
    }

    private static boolean isOther(@Nullable Pipeline definition, Engine engine) {
        if (definition == null) {
            return false;
        }
        Pipeline served = FunctionText.asWritten(engine.pipeline()).inThisJava();
        return !definition.unpublished().ofDataOf(served).equals(served);
    }

    @Override
    public ExitCode read(Verb verb) throws IOException {
        opened = null;
        return readAgain(verb);
    }

    @Override
    public ExitCode readAgain(Verb verb) throws IOException {
        Engine engine = opened;
        if (engine == null) {
            engine = opened();
            opened = engine;
        }
        return verb.on(engine);
    }

    private Engine opened() {
        Pipeline definition = definition();
        String name = definition == null ? pipeline : definition.name();
        Store store =
                definition == null ? aws.store(pipeline) : FunctionBesideFile.with(caller, aws, pipeline, definition);
        Engine engine = takesBatches ? aws.engine(name, store, definition) : aws.engine(name, store);
        if (isOther(definition, engine)) {
            caller.note("Note: this is about the pipeline whose totals are served, which is not the file's. When"
                    + " the file's is deployed, its totals are filled, and serve then.");
        }
        if (definition != null) {
            engine.pipeline()
                    .otherRules()
                    .ifPresent(reason -> caller.note("Note: " + reason + ". Commands that fold records are refused."));
        }
        return engine;
    }

    @Override
    public ExitCode use(Verb verb) throws IOException {
        return read(verb);
    }

    @Override
    public ExitCode ask(Question question) throws IOException {
        return read(engine -> question.on(engine).on(engine));
    }
}
