package dev.onefold.cli.data;

import dev.onefold.core.Capabilities;
import dev.onefold.core.Engine;
import java.io.IOException;

/// The argument that names the pipeline of a verb, and with it the engine that the verb works on: one on this machine,
/// or a deployment.
public interface EngineArgument {
    /// What all engines of this place can do; a verb has options for nothing else.
    Capabilities capabilities();

    /// Where the engine's data are, as the caller would write it.
    String place();

    /// Whether the pipeline file says something else than what the engine serves.
    boolean isOther(Engine engine);

    /// Reads: the verb changes nothing.
    int read(Verb verb) throws IOException;

    /// Changes something.
    int use(Verb verb) throws IOException;

    /// Asks a person first, then changes something. Nobody waits for the person.
    int ask(Question question) throws IOException;

    /// What a command does with an engine.
    interface Verb {
        /// Returns the exit code.
        int on(Engine engine) throws IOException;
    }

    /// What a command does that asks a person first.
    interface Question {
        /// Asks, and returns what is to be done. The engine is for reading only.
        Verb on(Engine engine) throws IOException;
    }
}
