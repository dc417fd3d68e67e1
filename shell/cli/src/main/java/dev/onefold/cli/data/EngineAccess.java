package dev.onefold.cli.data;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument.Question;
import dev.onefold.cli.data.EngineArgument.Verb;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.DataFolder;
import dev.onefold.embedded.DataReset;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FunctionJar;
import dev.onefold.embedded.Settings;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// How a verb reaches the engine on a data directory: the one that another process runs, through its socket; or one
/// that is opened for it. A verb is written once, for both.
public final class EngineAccess {
    /// An engine that is starting does not answer yet.
    private static final Duration START_MAX = Duration.ofSeconds(10);

    private EngineAccess() {}

    /// Opens the directory as its owner, as soon as another owner releases it; gives up after a while. The definition
    /// is the one of the pipeline file.
    ///
    /// @throws EngineException also when it stays in use
    public static EmbeddedEngine own(DataDirectory data, Settings settings, Caller caller) {
        Patience patience = new Patience(caller, Patience.COMMAND_MAX);
        while (true) {
            try {
                return open(data, settings, caller);
            } catch (EngineException e) {
                patience.waitAgain(e);
            }
        }
    }

    private static EmbeddedEngine open(DataDirectory data, Settings settings, Caller caller) {
        if (DataReset.finishInterrupted(data.path(), settings)) { // No data are deleted without a word.
            caller.note("A reset of " + caller.shown(data.path())
                    + " was interrupted; the rest of its data was deleted first.");
        }
        PipelineFunction loaded = data.function();
        if (loaded != null) {
            return loaded.jar()
                    .map(jar -> EmbeddedEngine.open(data.path(), new FunctionJar(loaded.function(), jar), settings))
                    .orElseGet(() -> EmbeddedEngine.open(data.path(), loaded.function(), settings));
        }
        return data.definition() == null
                ? EmbeddedEngine.open(data.path(), settings)
                : EmbeddedEngine.open(data.path(), data.definition(), settings);
    }

    /// Reads: through the process that owns the directory, or from the files as they are. The latter needs no
    /// permission to write, and leaves no trace.
    public static ExitCode read(DataDirectory data, Caller caller, Verb verb) throws IOException {
        return readAgain(data, caller, engine -> {
            noteOther(data, engine, caller);
            return verb.on(engine);
        });
    }

    /// The same without a note on a pipeline file that has changed.
    public static ExitCode readAgain(DataDirectory data, Caller caller, Verb verb) throws IOException {
        return access(data, caller, verb, () -> EmbeddedEngine.read(data.path(), Settings.defaults(), data.command()));
    }

    /// Changes something that goes on where it was: if the owner of the directory ends before the verb, which
    /// may be another command, the verb begins again with the next owner, or as the owner.
    ///
    /// @param isStopped whether it does not
    /// @param going the verb as a message names it
    public static ExitCode useThroughOwners(
            DataDirectory data, Caller caller, BooleanSupplier isStopped, String going, Verb verb) throws IOException {
        AtomicBoolean isOwnerGone = new AtomicBoolean();
        while (true) {
            try {
                return use(data, caller, engine -> {
                    try {
                        return verb.on(engine);
                    } catch (EngineException e) {
                        isOwnerGone.set(
                                engine instanceof RemoteEngine owner && owner.isGone() && !isStopped.getAsBoolean());
                        throw e;
                    }
                });
            } catch (EngineException e) {
                if (!isOwnerGone.getAndSet(false)) {
                    throw e;
                }
                caller.note("The process that owned the data directory has ended. " + going + " goes on without it.");
            }
        }
    }

    /// Changes something: through the process that owns the directory, or as its owner.
    public static ExitCode use(DataDirectory data, Caller caller, Verb verb) throws IOException {
        return change(data, caller, engine -> {
            noteOther(data, engine, caller);
            return verb.on(engine);
        });
    }

    private static ExitCode change(DataDirectory data, Caller caller, Verb verb) throws IOException {
        Settings settings = Settings.defaults().withSpaceListener(new FullDisk(caller, () -> false));
        return access(data, caller, verb, () -> EmbeddedEngine.open(data.path(), settings, data.command()));
    }

    /// Asks first, then changes. While a person thinks, this process owns nothing.
    public static ExitCode ask(DataDirectory data, Caller caller, Question question) throws IOException {
        AtomicReference<@Nullable Verb> answer = new AtomicReference<>();
        ExitCode code = read(data, caller, engine -> {
            answer.set(question.on(engine));
            return ExitCode.DONE;
        });
        Verb verb = answer.get();
        return verb == null ? code : change(data, caller, verb);
    }

    private static ExitCode access(DataDirectory data, Caller caller, Verb verb, Supplier<EmbeddedEngine> opening)
            throws IOException {
        if (!DataFolder.exists(data.path())) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "There is no data of pipeline " + data.pipeline() + " in " + caller.shown(data.path())
                            + ".\nFold some input first, with 'onefold run', or say where it is, with --data.");
        }
        Verb checked = engine -> {
            requireName(data, engine, caller);
            return verb.on(engine);
        };
        Patience patience = new Patience(caller, START_MAX);
        while (true) {
            Optional<RemoteEngine> remote = RemoteEngine.connect(data.path());
            try {
                if (remote.isPresent()) {
                    return checked.on(remote.get());
                }
            } catch (EngineException e) {
                if (!remote.get().isGoneUnheard()) {
                    throw e;
                }
            }
            EmbeddedEngine engine;
            try {
                engine = opening.get();
            } catch (EngineException e) {
                patience.waitAgain(e);
                continue;
            }
            try (engine) {
                return checked.on(engine);
            }
        }
    }

    private static void requireName(DataDirectory data, Engine engine, Caller caller) {
        String stored = engine.pipeline().name();
        if (!stored.equals(data.pipeline())) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "The data in " + caller.shown(data.path()) + " is of pipeline " + stored + ", not of pipeline "
                            + data.pipeline() + ".");
        }
    }

    private static void noteOther(DataDirectory data, Engine engine, Caller caller) {
        Pipeline served = engine.pipeline();
        if (data.definition() != null && data.isOther(served)) {
            caller.note(FunctionText.hashWarning(served, data.definition())
                    .map(warning -> "Note: " + warning)
                    .orElse("Note: "
                            + served.otherRules().orElse("the pipeline file has changed since it was last run")
                            + "; this is about what was run then. 'onefold run' takes the change over."));
        }
    }
}
