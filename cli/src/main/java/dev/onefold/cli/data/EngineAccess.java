package dev.onefold.cli.data;

import dev.onefold.aws.AwsEngine;
import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

    /// What a command does that asks a person first.
    public interface Question {
        /// Asks, and returns what is to be done. The engine is for reading only.
        Verb on(Engine engine) throws IOException;
    }

    /// Reads: on the engine that this process runs, through the process that owns the directory, or from the files as
    /// they are. The last way needs no permission to write, and leaves no trace.
    public static int read(DataDirectory data, Call call, Verb verb) throws IOException {
        return access(data, call, verb, () -> Owner.reader(data));
    }

    /// Changes something: on the engine that this process runs, through the process that owns the directory, or as its
    /// owner.
    public static int use(DataDirectory data, Call call, Verb verb) throws IOException {
        return access(data, call, verb, () -> Owner.openStored(data, call));
    }

    /// Asks first, then changes. While a person thinks, this process owns nothing. If another process owns the
    /// directory by the time of the answer, the question is asked there again.
    public static int ask(DataDirectory data, Call call, Question question) throws IOException {
        AtomicReference<@Nullable Verb> answer = new AtomicReference<>();
        int code = read(data, call, engine -> {
            Verb verb = question.on(engine);
            if (call.live() != null) {
                return verb.on(engine);
            }
            answer.set(verb);
            return ExitCode.DONE.code();
        });
        Verb verb = answer.get();
        return verb == null ? code : use(data, call, verb);
    }

    private static int access(DataDirectory data, Call call, Verb verb, Supplier<Owner> opening) throws IOException {
        if (call.live() != null) {
            Engine live = call.live().apply(data.pipeline());
            requireName(data, live, call);
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
                owner = opening.get();
            } catch (EngineException e) {
                patience.waitAgain(e);
                continue;
            }
            try (owner) {
                requireName(data, owner.engine(), call);
                noteOtherDefinition(data, owner.engine(), call);
                return verb.on(owner.engine());
            }
        }
    }

    private static void requireName(DataDirectory data, Engine engine, Call call) {
        String stored = engine.pipeline().name();
        if (engine instanceof EmbeddedEngine && !stored.equals(data.pipeline())) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "The data in " + call.caller().shown(data.path()) + " is of pipeline " + stored
                            + ", not of pipeline " + data.pipeline() + ".");
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
