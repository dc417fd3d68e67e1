package dev.onefold.local.stack;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// What a deployment on this machine runs with.
///
/// @param functions class path of the functions, as their archive has it
/// @param node folder of what runs on Node, filled at first use
/// @param sandboxesMax processes of each function
/// @param minute how long a minute of the template's schedules lasts
public record Machine(List<Path> functions, Path node, int sandboxesMax, Duration minute) {
    public Machine {
        functions = List.copyOf(functions);
    }
}
