package dev.onefold.cli.call;

import dev.onefold.core.Engine;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One call of the command line: by whom, with which arguments.
///
/// @param live the engine that this process runs already, when the caller is another process that asks for a verb on
/// it
/// @param interpreter runs a command line beside a live engine
public record Call(
        Caller caller, List<String> arguments, @Nullable Engine live, Interpreter interpreter) {
    public Call {
        arguments = List.copyOf(arguments);
    }

    /// Runs the command line of another process on the engine that this one runs.
    public interface Interpreter {
        /// Returns the exit code. The caller's streams are flushed.
        int run(Caller caller, List<String> arguments, Engine live);
    }
}
