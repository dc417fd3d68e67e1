package dev.onefold.local.function;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// One function.
///
/// @param handler name of the class
/// @param environment all of its variables
/// @param timeout after which an invocation is killed
/// @param memoryMb of which the heap gets most, as in Lambda
/// @param sandboxesMax how many invocations there may be at a time
/// @param jvmOptions further options of its JVM, such as a cache of its classes
public record FunctionSettings(
        String name,
        String handler,
        Map<String, String> environment,
        Duration timeout,
        int memoryMb,
        int sandboxesMax,
        List<String> jvmOptions) {
    public FunctionSettings {
        environment = Map.copyOf(environment);
        jvmOptions = List.copyOf(jvmOptions);
        if (timeout.isNegative() || timeout.isZero() || memoryMb < 128 || sandboxesMax < 1) {
            throw new IllegalArgumentException("Function " + name + " has a timeout of " + timeout + ", " + memoryMb
                    + " MB and " + sandboxesMax + " sandboxes; each must be above zero, and memory at least 128 MB.");
        }
    }

    /// The same function with further options for its JVM.
    public FunctionSettings with(List<String> moreOptions) {
        return new FunctionSettings(name, handler, environment, timeout, memoryMb, sandboxesMax, moreOptions);
    }

    /// The same function with another variable.
    public FunctionSettings with(String variable, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(variable, value);
        return new FunctionSettings(name, handler, more, timeout, memoryMb, sandboxesMax, jvmOptions);
    }
}
