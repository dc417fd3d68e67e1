package dev.onefold.embedded.source;

import dev.onefold.embedded.file.Decompression;
import java.nio.file.Path;

/// A file that is being written and rotated: renamed, with another file under its name from then on.
///
/// @param path its name
/// @param forgetRotated whether to continue when the file that was being read is not found any more
/// @param separate whether the first file is known to be no copy of one that was folded under another name
public record FollowedFile(Path path, boolean forgetRotated, boolean separate) {
    public FollowedFile {
        path = path.toAbsolutePath().normalize();
        if (Decompression.isCompressed(path)) {
            throw new IllegalArgumentException("A compressed file cannot be followed: " + path);
        }
    }

    /// A file of which nothing may be missing.
    public FollowedFile(Path path) {
        this(path, false, false);
    }
}
