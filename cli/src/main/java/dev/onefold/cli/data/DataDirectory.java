package dev.onefold.cli.data;

import dev.onefold.core.pipeline.Pipeline;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Where the data of a pipeline lie.
///
/// @param pipeline its name
/// @param definition what its file says; `null` when a command names the pipeline only, and takes the definition
/// stored with the data
public record DataDirectory(
        Path path, String pipeline, @Nullable Pipeline definition) {}
