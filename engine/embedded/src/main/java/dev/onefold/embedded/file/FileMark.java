package dev.onefold.embedded.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/// The identity of a file, independent of its name.
///
/// @param key inode of the file; empty when there is no file, `?` where the system has no inodes
/// @param since time at which the file was made, or a later one; any later file of its name was written to later
/// @param modified time of the last write
public record FileMark(String key, FileTime since, FileTime modified) {
    private static final FileMark NONE = new FileMark("", FileTime.fromMillis(0), FileTime.fromMillis(0));

    public static FileMark of(Path path) throws IOException {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            Object key = attributes.fileKey();
            FileTime made = attributes.creationTime();
            FileTime written = attributes.lastModifiedTime();
            return new FileMark(
                    key == null ? "?" : key.toString().replaceAll(".*ino=(\\d+).*", "$1"),
                    made.compareTo(written) < 0 && made.toMillis() > 0 ? made : written,
                    written);
        } catch (NoSuchFileException gone) {
            return NONE;
        }
    }

    /// A file that is deleted, of which only the time when it was made is known.
    public static FileMark since(long millis) {
        FileTime made = FileTime.fromMillis(millis);
        return new FileMark("", made, made);
    }

    public boolean isSameFile(FileMark other) {
        return key.equals(other.key);
    }

    public boolean isNone() {
        return key.isEmpty();
    }
}
