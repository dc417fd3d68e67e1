package dev.onefold.cli.demo;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/// A folder of its own; removed at the end, however that comes, unless it is to be kept.
public final class Workplace implements AutoCloseable {
    private final Path folder;
    private final @Nullable Thread atExit;

    private Workplace(Path folder, boolean kept) {
        this.folder = folder;
        atExit = kept ? null : new Thread(this::remove);
        if (atExit != null) {
            Runtime.getRuntime().addShutdownHook(atExit);
        }
    }

    public static Workplace temporary() throws IOException {
        return new Workplace(Files.createTempDirectory("onefold-demo"), false);
    }

    static Workplace kept(Caller caller, String text) throws IOException {
        Path folder = caller.path(text);
        if (Files.exists(folder)) {
            throw CommandFailure.usage(caller.shown(folder) + " exists already; --keep makes a new folder.");
        }
        return new Workplace(Files.createDirectories(folder), true);
    }

    public Path folder() {
        return folder;
    }

    private void remove() {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                    Files.delete(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            // What is left lies in the folder for temporary files, and hurts nobody.
        }
    }

    @Override
    public void close() {
        if (atExit != null) {
            remove();
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException exiting) {
                // Then it has run, or will run in vain.
            }
        }
    }
}
