package dev.onefold.receivers;

import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The context of receivers in the process that opens them.
///
/// @param folder the folder of the pipeline file: relative paths begin there, and commands run there
/// @param spool a folder on a disk for a batch that a command reads and the jar of a class; no other process uses
///     it
/// @param environment returns the value of an environment variable; `null` if it is not set
/// @param classes finds the classes of receivers in Java that are in no jar
/// @param connectors connectors from other modules, by their kind
/// @param format format of the records in a content
public record Context(
        Path folder,
        Path spool,
        Environment environment,
        ClassLoader classes,
        Map<Kind, Connector> connectors,
        Format format) {
    public Context {
        folder = folder.toAbsolutePath();
        connectors = Map.copyOf(connectors);
    }

    /// Looks up environment variables.
    @FunctionalInterface
    public interface Environment {
        @Nullable
        String get(String name);
    }

    /// Opens the receivers of one kind.
    @FunctionalInterface
    public interface Connector {
        /// @throws IllegalArgumentException saying what is wrong with the destination
        Receiver open(Batching batching, Context context);
    }

    /// The context of this process, without connectors.
    public static Context of(Path folder, Path spool, Format format) {
        ClassLoader classes = Thread.currentThread().getContextClassLoader();
        return new Context(
                folder,
                spool,
                System::getenv,
                classes == null ? ClassLoader.getSystemClassLoader() : classes,
                Map.of(),
                format);
    }
}
