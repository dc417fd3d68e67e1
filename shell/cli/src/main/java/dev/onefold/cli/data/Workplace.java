package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A folder of its own; removed at the end, however that comes, unless it is to be kept.
public final class Workplace implements AutoCloseable {
    private final Path folder;
    private final List<AtExit> cleaning;

    private Workplace(Path folder, boolean kept) {
        this.folder = folder;
        cleaning = kept ? List.of() : List.of(new AtExit(this::remove));
    }

    /// @param prefix of the folder's name
    public static Workplace temporary(String prefix) throws IOException {
        return new Workplace(Files.createTempDirectory(prefix), false);
    }

    public static Workplace kept(Caller caller, String text) throws IOException {
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
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        } catch (IOException | UncheckedIOException e) {
            // The rest lies in the folder for temporary files, and does no harm.
        }
    }

    @Override
    public void close() {
        cleaning.forEach(AtExit::close);
    }
}
