package dev.onefold.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A folder that is deleted when it is closed. It is not thread-safe.
record TemporaryFolder(Path path) implements AutoCloseable {
    static TemporaryFolder make() {
        try {
            return new TemporaryFolder(Files.createTempDirectory("onefold-test"));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /// Copies a folder with all that it contains.
    ///
    /// @param to does not exist yet
    static void copy(Path from, Path to) {
        try {
            for (Path each : below(from)) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /// Folders stand before what they contain.
    private static List<Path> below(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.toList();
        }
    }

    @Override
    public void close() {
        try {
            for (Path each :
                    below(path).stream().sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
