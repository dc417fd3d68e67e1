package dev.onefold.local.stack;

import java.nio.file.Path;
import java.util.List;

/// What a deployment on this machine runs with.
///
/// @param functions class path of the functions, as their archive has it
/// @param node folder of what runs on Node, filled at first use
/// @param sandboxesMax processes of each function
public record Machine(List<Path> functions, Path node, int sandboxesMax) {
    public Machine {
        functions = List.copyOf(functions);
    }
}
