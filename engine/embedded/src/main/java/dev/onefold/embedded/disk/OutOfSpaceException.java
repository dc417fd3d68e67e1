package dev.onefold.embedded.disk;

import java.nio.file.Path;

/// The disk is full. Nothing is lost: a caller that needs the space waits, and tries again.
public final class OutOfSpaceException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Path file;

    OutOfSpaceException(Path file, Throwable cause) {
        super("No space left for " + file, cause);
        this.file = file;
    }

    /// The file that needs the space.
    public Path file() {
        return file;
    }
}
