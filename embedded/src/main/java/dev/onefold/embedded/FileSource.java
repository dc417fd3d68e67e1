package dev.onefold.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/// A source that can be read again from its beginning, such as a file. It is known by its content; the name is for
/// people.
///
/// @param opener opens it at its first byte
/// @param growing whether more may come behind an unfinished last line; else that line is a record
/// @param separate whether it is known to be no copy of another source, whatever the two have in common
public record FileSource(String name, Opener opener, boolean growing, boolean separate) {
    public FileSource {
        Objects.requireNonNull(name, "The source's name is null");
        Objects.requireNonNull(opener, "The function that opens the source is null");
    }

    /// A source that is another one's copy if it holds just what was folded of that.
    public FileSource(String name, Opener opener, boolean growing) {
        this(name, opener, growing, false);
    }

    /// Opens a source at its first byte.
    public interface Opener {
        InputStream open() throws IOException;
    }
}
