package dev.onefold.local.function;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// What the processes of one class path keep of its classes (the JDK's AOT cache): a process that has it starts with a
/// third of the processor time. The first process learns them, and writes the cache when it ends by itself.
/// Thread-safe.
final class ClassCache {
    private static final Map<String, ClassCache> ALL = new ConcurrentHashMap<>();
    private static final List<String> QUIET = List.of("-Xlog:aot*=off", "-Xlog:cds*=off");

    private final Path file;
    private boolean isLearnt;
    private boolean isBeingLearnt;

    private ClassCache(boolean isPossible) {
        try {
            file = Files.createTempFile("onefold-functions", ".aot");
            Files.delete(file); // The process that learns makes it.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        file.toFile().deleteOnExit();
        isBeingLearnt = !isPossible;
    }

    /// @param classPath as a process gets it; one with folders has no cache
    static ClassCache of(String classPath) {
        return ALL.computeIfAbsent(
                classPath,
                path -> new ClassCache(Stream.of(path.split(File.pathSeparator, -1))
                        .allMatch(each -> Files.isRegularFile(Path.of(each)))));
    }

    /// The options of the process that learns; empty if another one does, or has.
    synchronized List<String> toLearn() {
        if (isLearnt || isBeingLearnt) {
            return List.of();
        }
        isBeingLearnt = true;
        return Stream.concat(Stream.of("-XX:AOTCacheOutput=" + file), QUIET.stream())
                .toList();
    }

    /// The options of a process that has the cache; empty before it is learnt.
    synchronized List<String> toUse() {
        return isLearnt
                ? Stream.concat(Stream.of("-XX:AOTCache=" + file), QUIET.stream())
                        .toList()
                : List.of();
    }

    /// The process that learns has ended; if it was killed, another one learns.
    synchronized void ended() {
        isLearnt = Files.exists(file);
        isBeingLearnt = false;
    }
}
