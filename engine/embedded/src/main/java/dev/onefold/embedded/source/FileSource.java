package dev.onefold.embedded.source;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.embedded.file.Decompression;
import dev.onefold.embedded.file.Generations;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A source that can be read again from its beginning, such as a file. It is identified by its content; the
/// name is for people.
///
/// @param opener opens it at its first byte
/// @param growing whether more may come behind an unfinished last line; otherwise that line is a record
/// @param separate whether it is known to be no copy of another source, even if the two begin alike
public record FileSource(String name, Opener opener, boolean growing, boolean separate) {
    public FileSource {
        Objects.requireNonNull(name, "The source's name is null");
        Utf8.encode("The source's name", name);
        Objects.requireNonNull(opener, "The function that opens the source is null");
    }

    /// A source that is a copy of another one if it holds exactly the content that was folded of that.
    public FileSource(String name, Opener opener, boolean growing) {
        this(name, opener, growing, false);
    }

    /// Opens a source at its first byte.
    public interface Opener {
        InputStream open() throws IOException;
    }

    /// The outcome of a fold: a report, or a refusal, which [dev.onefold.embedded.EmbeddedEngine#fold] throws. A
    /// reader of followed files knows more about a file, and decides about the refusal itself.
    public sealed interface Outcome permits FoldReport, Refused {}

    /// It is not the source that was folded under its name, or it is unknown whether it is a source of its
    /// own.
    ///
    /// @param beginsAs the source whose whole folded content is the beginning of this one; `null` if it is
    ///     another one than was folded under its name
    public record Refused(@Nullable String beginsAs, String message) implements Outcome {}

    /// A file under its absolute path, decompressed if its name ends in `.gz` or `.zst`. A last line without its end
    /// is a record.
    public static FileSource of(Path path) {
        return of(path.toAbsolutePath().normalize().toString(), path);
    }

    static FileSource of(String name, Path file) {
        return new FileSource(name, () -> Decompression.open(file, new AtomicLong()), false);
    }

    /// The file that a source is named after, to verify or rebuild from it; `null` if the file is deleted.
    /// The engine compares the file's content with the content that it folded.
    public static @Nullable FileSource reopen(String name) {
        try {
            Path path = Path.of(name);
            Path file =
                    Files.isRegularFile(path) ? path : Generations.file(name).orElse(path);
            return Files.isReadable(file) ? of(name, file) : null;
        } catch (NoSuchFileException | NotDirectoryException e) {
            return null; // Its folder is gone.
        } catch (InvalidPathException e) {
            return null; // A source that came through the journal may have any name.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
