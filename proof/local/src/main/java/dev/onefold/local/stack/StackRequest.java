package dev.onefold.local.stack;

import java.util.Map;
import java.util.Optional;

/// What is to be deployed.
///
/// @param name of the stack
/// @param yaml the template, as `onefold aws template` writes it
/// @param parameters of the template that are not to have their defaults
/// @param table whose change stream is the input: a table of the user's own, which is there before the stack is
public record StackRequest(String name, String yaml, Map<String, String> parameters, Optional<GivenTable> table) {
    public StackRequest {
        parameters = Map.copyOf(parameters);
    }
}
