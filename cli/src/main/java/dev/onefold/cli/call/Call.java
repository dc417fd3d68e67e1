package dev.onefold.cli.call;

import dev.onefold.core.Engine;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One call of the command line: by whom, with which arguments.
///
/// @param live gives the engine that a verb is for, by the name of its pipeline, where that is not the one in a data
/// directory: the one that this process runs already, when the caller is another process; or one on AWS
/// @param interpreter runs a command line beside a live engine
public record Call(
        Caller caller, List<String> arguments, @Nullable Function<String, Engine> live, Interpreter interpreter) {
    public Call {
        arguments = List.copyOf(arguments);
    }

    /// The same call, for other engines.
    public Call on(Function<String, Engine> others) {
        return new Call(caller, arguments, others, interpreter);
    }

    /// Runs the command line of another process on the engine that this one runs.
    public interface Interpreter {
        /// Returns the exit code. The caller's streams are flushed.
        int run(Caller caller, List<String> arguments, Engine live);
    }
}
