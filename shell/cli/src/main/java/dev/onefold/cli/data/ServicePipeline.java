package dev.onefold.cli.data;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// The pipeline that a command is about, which a service runs.
///
/// @param pipeline its file or its name
/// @param token secret of the caller; `null` for a service without tokens
record ServicePipeline(
        Caller caller,
        String pipeline,
        URI address,
        @Nullable String token) implements EngineArgument {
    /// Those of the engine that a service has; what it refuses, [RemoteEngine#capabilities] says.
    @Override
    public Capabilities capabilities() {
        return EmbeddedEngine.CAPABILITIES;
    }

    @Override
    public String place() {
        return address.toString();
    }

    /// Without the token.
    @Override
    public String toString() {
        return pipeline + " at " + address;
    }

    private @Nullable Pipeline definition() {
        return PipelineArgument.readOrNamed(caller, pipeline);
    }

    @Override
    public boolean isOther(Engine engine) {
        return isOther(definition(), engine);
    }

    private static boolean isOther(@Nullable Pipeline definition, Engine engine) {
        Pipeline served = FunctionText.asWritten(engine.pipeline());
        return definition != null && !definition.ofDataOf(served).equals(served);
    }

    @Override
    public ExitCode read(Verb verb) throws IOException {
        Pipeline definition = definition();
        return on(definition, engine -> {
            if (isOther(definition, engine)) {
                caller.note("Note: this is about the pipeline that the service runs, which is not the file's.");
            }
            return verb.on(engine);
        });
    }

    @Override
    public ExitCode readAgain(Verb verb) throws IOException {
        return on(definition(), verb);
    }

    private ExitCode on(@Nullable Pipeline definition, Verb verb) throws IOException {
        try (RemoteEngine engine = connected(definition == null ? pipeline : definition.name())) {
            return verb.on(engine);
        }
    }

    private RemoteEngine connected(String name) {
        try {
            return RemoteEngine.connect(address, name, token);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, e.getMessage() + ".", e);
        }
    }

    @Override
    public ExitCode use(Verb verb) throws IOException {
        return read(verb);
    }

    /// A service that was started again while the person thought refuses the action.
    @Override
    public ExitCode ask(Question question) throws IOException {
        return read(engine -> question.on(engine).on(engine));
    }
}
