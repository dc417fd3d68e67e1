package dev.onefold.cli.data;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.yaml.PipelineFunction;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Where the data of a pipeline lie.
///
/// @param pipeline its name
/// @param definition what its file says; `null` when a command names the pipeline only, and takes the definition
/// stored with the data
/// @param function of the definition; `null` if it has none, or it cannot be loaded, which matters to `run` alone
public record DataDirectory(
        Path path,
        String pipeline,
        @Nullable Pipeline definition,
        @Nullable PipelineFunction function) {
    /// Without a function.
    public DataDirectory(Path path, String pipeline, @Nullable Pipeline definition) {
        this(path, pipeline, definition, null);
    }

    /// The function, if it is a command: the directory does not keep its code.
    @Nullable
    LoadedFunction command() {
        return function != null && function.function().command().isPresent() ? function.function() : null;
    }

    /// Whether the file says something else than a definition. If the function could not be loaded, it is left out.
    boolean isOther(Pipeline served) {
        if (definition == null) {
            return false;
        }
        return !definition.ofDataOf(served).equals(function == null ? FunctionText.asWritten(served) : served);
    }
}
