package dev.onefold.cli.run;

import dev.onefold.embedded.FileSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Files that were folded before, to be read again: for a changed pipeline, and to verify or rebuild from them. The
/// engine compares their content with what it folded.
public final class KnownFiles {
    private KnownFiles() {}

    /// The file that a source is named after; `null` if it is not there any more.
    public static @Nullable FileSource reopen(String source) {
        try {
            Path path = Path.of(source);
            Path file =
                    Files.isRegularFile(path) ? path : Generations.file(source).orElse(path);
            return Files.isReadable(file)
                    ? new FileSource(source, () -> InputFile.open(file, new AtomicLong()), false)
                    : null;
        } catch (InvalidPathException e) {
            return null; // A source that came through the journal may have any name.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
