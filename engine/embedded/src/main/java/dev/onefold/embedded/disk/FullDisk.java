package dev.onefold.embedded.disk;

import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Tells a full disk from a failing one. Java gives no error number, and the text of an error is in the
/// language of the user. So the file store is asked for its free space. A store may have space and no room
/// for another file name (inodes): for this the text is compared with the one that this machine gives for its
/// device that is always full.
final class FullDisk {
    /// A store with less than this is full: the smallest write that Onefold makes to grow a file needs a block.
    private static final long USABLE_BYTES_MIN = 64 << 10;

    /// No store reports a quota, and no device has one: this text is known in English only.
    private static final String QUOTA = "quota exceeded";

    private static final Path ALWAYS_FULL = Path.of("/dev/full");
    private static final @Nullable String TEXT = textOfThisMachine();

    private FullDisk() {}

    /// Whether an operation on a file failed for want of space.
    static boolean isReason(Path file, IOException failure) {
        String text = failure instanceof FileSystemException withFile ? withFile.getReason() : failure.getMessage();
        if (text == null) {
            return false; // The operating system has given no reason: the channel was closed, the name exists, and so
            // on.
        }
        return text.equals(TEXT) || text.contains(QUOTA) || usableBytes(file) < USABLE_BYTES_MIN;
    }

    private static long usableBytes(Path file) {
        for (Path at = file.toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at)) {
                try {
                    return Files.getFileStore(at).getUsableSpace();
                } catch (IOException unknown) {
                    return Long.MAX_VALUE;
                }
            }
        }
        return Long.MAX_VALUE;
    }

    private static @Nullable String textOfThisMachine() {
        if (!Files.exists(ALWAYS_FULL)) {
            return null;
        }
        try (OutputStream full = new FileOutputStream(ALWAYS_FULL.toFile())) {
            full.write(0);
            return null;
        } catch (FileNotFoundException notAllowed) {
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }
}
