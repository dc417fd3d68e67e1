package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import java.io.IOException;
import java.util.Optional;

/// The argument that names the pipeline of a verb, and with it the engine that the verb works on: one on this machine,
/// or a deployment.
public interface EngineArgument {
    /// The caller of the verb.
    Caller caller();

    /// The capabilities that all engines of this place have; the options of a verb need no others.
    Capabilities capabilities();

    /// Whether an engine that the argument may name has this.
    default boolean mayHave(Capability capability) {
        return capabilities().has(capability);
    }

    /// Refuses a verb that the engine cannot do.
    ///
    /// @throws CommandFailure with the reason
    static void require(Engine engine, Capability capability) {
        engine.capabilities().reason(capability).ifPresent(reason -> {
            throw CommandFailure.usage(reason);
        });
    }

    /// Where the engine's data are, as the caller would write it.
    String place();

    /// Whether a service runs the engine: then its definition is not of this machine, and nothing that it names, such
    /// as a database or a variable with a password, may be opened from here.
    default boolean isOfService() {
        return false;
    }

    /// The data directory on this machine; empty if the engine is elsewhere.
    default Optional<PipelineArgument> here() {
        return Optional.empty();
    }

    /// The command of another verb for the same engine.
    ///
    /// @param pipeline its name
    default String command(String verb, String pipeline) {
        return "onefold " + verb + " " + pipeline;
    }

    /// Whether the command line says where the engine is.
    default boolean isPlaced() {
        return false;
    }

    /// Says that the options for AWS are about a source that the verb reads, wherever the engine is.
    default void useForSource() {}

    /// Whether the pipeline file says something else than what the engine serves.
    boolean isOther(Engine engine);

    /// Reads: the verb changes nothing.
    ExitCode read(Verb verb) throws IOException;

    /// Reads once more, as often as the caller likes: what was noted for the reading before is not noted again.
    ExitCode readAgain(Verb verb) throws IOException;

    /// Changes something.
    ExitCode use(Verb verb) throws IOException;

    /// Asks a person first, then changes something. Nobody waits for the person.
    ExitCode ask(Question question) throws IOException;

    /// The action of a command on an engine.
    interface Verb {
        /// Returns how the command ends.
        ExitCode on(Engine engine) throws IOException;
    }

    /// The question of a command to a person, before its action.
    interface Question {
        /// Asks, and returns what is to be done. The engine is for reading only.
        Verb on(Engine engine) throws IOException;
    }
}
