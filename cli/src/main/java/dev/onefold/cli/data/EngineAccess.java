package dev.onefold.cli.data;

import dev.onefold.aws.AwsEngine;
import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EngineException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.OptionalInt;

/// How a verb reaches the engine, wherever that runs. A verb is written once: beside a running engine its command
/// line goes to the process that owns the directory, which runs it there and sends the output back.
public final class EngineAccess {
    /// An engine that is starting does not answer yet.
    private static final Duration START_MAX = Duration.ofSeconds(10);

    private EngineAccess() {}

    /// What a command does with an engine.
    public interface Verb {
        /// Returns the exit code.
        int on(Engine engine) throws IOException;
    }

    /// Does it: on the engine that this process runs, through the process that owns the directory, or as its owner.
    public static int use(DataDirectory data, Call call, Verb verb) throws IOException {
        if (call.live() != null) {
            Engine live = call.live().apply(data.pipeline());
            noteOtherDefinition(data, live, call);
            return verb.on(live);
        }
        if (!Files.isDirectory(data.path())) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "There is no data of pipeline " + data.pipeline() + " in "
                            + call.caller().shown(data.path())
                            + ".\nFold some input first, with 'onefold run', or say where it is, with --data.");
        }
        Patience patience = new Patience(call.caller(), START_MAX);
        while (true) {
            OptionalInt code = Visit.pay(data.path(), call.caller(), call.arguments());
            if (code.isPresent()) {
                return code.getAsInt();
            }
            Owner owner;
            try {
                owner = Owner.openStored(data, call);
            } catch (EngineException e) {
                patience.waitAgain(e);
                continue;
            }
            try (owner) {
                noteOtherDefinition(data, owner.engine(), call);
                return verb.on(owner.engine());
            }
        }
    }

    private static void noteOtherDefinition(DataDirectory data, Engine engine, Call call) {
        Pipeline definition = data.definition();
        if (definition != null && !definition.equals(engine.pipeline())) {
            call.caller()
                    .err()
                    .println(
                            engine instanceof AwsEngine
                                    ? "Note: this is about the pipeline whose totals are served, which is not the file's."
                                            + " When the file's is deployed, its totals are filled, and serve then."
                                    : "Note: the pipeline file has changed since it was last run; this is about what was"
                                            + " run then. 'onefold run' takes the change over.");
        }
    }
}
