package dev.onefold.yaml;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Program;
import dev.onefold.core.process.CommandFunction;
import dev.onefold.core.process.LoadedFunction;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The function of a pipeline with `process`, from the jar beside the pipeline file, from the class path, or from a
/// command, which is started. Each call loads the classes of a jar again. They see the JDK, their jar and
/// `dev.onefold.process`, and no class of Onefold's or of the application's. They come from the bytes that were read: a
/// jar that is written later changes no function that was loaded before.
///
/// @param function bound to the pipeline
/// @param jar the bytes of the jar; empty if the function is in none
public record PipelineFunction(LoadedFunction function, Optional<byte[]> jar) {
    public static final int JAR_BYTES_MAX = 64 * 1024 * 1024;

    /// Greatest time for the code that runs when a function is loaded: its class, its constructor, `tables()`
    /// and `start()`.
    private static final Duration LOAD_MAX = Duration.ofSeconds(10);

    /// The function that a pipeline file names.
    ///
    /// @throws IllegalArgumentException with all problems of the file, its jar or its class
    /// @throws java.io.UncheckedIOException if the pipeline file cannot be read
    public static PipelineFunction load(Path pipelineFile) {
        return load(pipelineFile, PipelineFile.pipeline(pipelineFile));
    }

    /// The same for a pipeline file that was read already.
    ///
    /// @param pipeline of the file
    /// @throws IllegalArgumentException saying what is wrong with the jar or the class
    public static PipelineFunction load(Path pipelineFile, Pipeline pipeline) {
        return load(pipelineFile, pipeline, LOAD_MAX);
    }

    static PipelineFunction load(Path pipelineFile, Pipeline pipeline, Duration most) {
        if (!(pipeline.fold() instanceof Processing processing)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no process section");
        }
        return switch (processing.program()) {
            case Program.Command(List<String> words) -> {
                Path folder =
                        Objects.requireNonNull(pipelineFile.toAbsolutePath().getParent());
                CommandProcesses processes = new CommandProcesses(words, folder, most);
                CommandFunction command = new CommandFunction(processing, processes);
                yield new PipelineFunction(LoadedFunction.of(pipeline, command, processes.sha256()), Optional.empty());
            }
            case Program.JavaClass java
            when java.jar() == null -> new PipelineFunction(load(pipeline, onClassPath(), "", most), Optional.empty());
            case Program.JavaClass java -> {
                Path jar = pipelineFile.toAbsolutePath().resolveSibling(Objects.requireNonNull(java.jar()));
                byte[] bytes = read(jar);
                yield new PipelineFunction(
                        load(pipeline, classes(jar, bytes), Sha256.hex(bytes), most), Optional.of(bytes));
            }
        };
    }

    /// The thread of a load that does not return is abandoned: nothing can end the user's code.
    private static LoadedFunction load(Pipeline pipeline, ClassLoader loader, String sha256, Duration most) {
        FutureTask<LoadedFunction> load = new FutureTask<>(() -> LoadedFunction.load(pipeline, loader, sha256));
        Thread.ofPlatform().daemon().name("onefold-function-load").start(load);
        try {
            return load.get(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw new IllegalStateException("A function could not be loaded", e);
            }
        } catch (TimeoutException e) {
            load.cancel(true);
            throw new IllegalArgumentException(
                    "Class " + ((Processing) pipeline.fold()).programName() + " was not ready within " + most.toMillis()
                            + " ms: its static code, its constructor, tables() or start() does not return. None of"
                            + " them may wait or compute",
                    e);
        } catch (InterruptedException e) {
            load.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a function was loaded", e);
        }
    }

    private static ClassLoader onClassPath() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? ClassLoader.getSystemClassLoader() : context;
    }

    private static byte[] read(Path jar) {
        if (!Files.isRegularFile(jar)) {
            throw new IllegalArgumentException(
                    "There is no jar " + jar + ". Build it, or correct 'jar', which is relative to the pipeline file");
        }
        try (InputStream in = Files.newInputStream(jar)) {
            byte[] bytes = in.readNBytes(JAR_BYTES_MAX + 1);
            if (bytes.length > JAR_BYTES_MAX) {
                throw new IllegalArgumentException(jar + " is larger than " + JAR_BYTES_MAX
                        + " bytes. Leave out the libraries that the function does not need");
            }
            return bytes;
        } catch (IOException e) {
            throw new IllegalArgumentException("The jar " + jar + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static ClassLoader classes(Path jar, byte[] bytes) {
        try {
            return new JarClasses(bytes);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    jar + " is not a jar (" + e.getMessage() + "). Build it with 'jar --create'", e);
        }
    }
}
