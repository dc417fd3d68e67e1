package dev.onefold.embedded;

import java.io.IOException;
import java.io.InputStream;

/// A source that can be read again from its beginning, such as a file. It is known by its content; the name is for
/// people.
///
/// @param opener opens it at its first byte
/// @param growing whether more may come behind an unfinished last line; else that line is a record
public record FileSource(String name, Opener opener, boolean growing) {
    /// Opens a source at its first byte.
    public interface Opener {
        InputStream open() throws IOException;
    }
}
