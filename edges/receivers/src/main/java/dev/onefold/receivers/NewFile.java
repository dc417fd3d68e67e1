package dev.onefold.receivers;

import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/// Makes a file whole or not at all, and never in the place of another one.
///
///     .NAME.ID.part   made under a new ID and locked, written, forced
///     NAME            a second name of the same file; making it fails if there is a NAME
///     .NAME.ID.part   deleted
///     the folder      forced
///
/// A crash between any two steps leaves either no NAME or the whole file, and another try completes it. (A
/// move would replace a file of that name on POSIX, even an atomic one.) Two processes that make one NAME have
/// parts of their own, so neither publishes what the other one has half written. The lock tells a part that is
/// being written from one that a crash left, which the next process deletes.
///
/// On a file system without links (FAT, some network folders), an empty NAME is made first, which fails if there
/// is one, and the part is moved over it. There a reader may see an empty NAME for a moment, and a crash may
/// leave one, which the next try replaces: no batch is empty. Bytes that another program writes into the empty
/// file in that moment are lost, and two processes that make one NAME may both believe that it is theirs.
final class NewFile {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final String PART_END = ".part";
    private static final String ID_PATTERN = "\\.[0-9a-f]{16}\\.part";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path file;
    private final Path part;
    private final Link link;
    private boolean isPerhapsThere;

    /// Gives a file a second name, as [Files#createLink] does.
    @FunctionalInterface
    interface Link {
        void make(Path name, Path file) throws IOException;
    }

    /// The content that the name has now.
    enum Found {
        /// The content, whole and forced.
        SAME,
        /// Another content, which was left as it is.
        OTHER
    }

    NewFile(Path file, Link link) {
        this.file = file;
        this.part = beside("." + HexFormat.of().toHexDigits(RANDOM.nextLong()) + PART_END);
        this.link = link;
    }

    private Path beside(String end) {
        return file.resolveSibling("." + file.getFileName() + end);
    }

    /// Makes the file, unless it is there.
    ///
    /// @param bytes of the content
    /// @param sha256 of the content, in hex
    Found make(Handover.Source content, long bytes, String sha256) throws IOException {
        if (exists(file) && !isEmpty()) {
            isPerhapsThere = true;
            return keep(bytes, sha256);
        }
        try (FileChannel out = FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            lock(out);
            write(content, out);
            isPerhapsThere = true;
            if (!publish()) {
                Files.delete(part);
                return keep(bytes, sha256);
            }
        } catch (IOException | RuntimeException e) {
            discard(e);
            throw e;
        }
        Files.deleteIfExists(part);
        forceFolder();
        return Found.SAME;
    }

    /// Whether the file may have its name, after [#make] has failed.
    boolean isPerhapsThere() {
        return isPerhapsThere && !Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean exists(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static void write(Handover.Source content, FileChannel out) throws IOException {
        try (InputStream in = content.open()) {
            OutputStream stream = Channels.newOutputStream(out);
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                stream.write(buffer, 0, count);
            }
            out.force(true); // The name promises the content, also after a power cut.
        }
    }

    /// Whether the part belongs to no process now. On a file system without locks that cannot be known.
    private static boolean lock(FileChannel part) {
        try {
            return part.tryLock() != null;
        } catch (OverlappingFileLockException | IOException another) {
            return false;
        }
    }

    /// Deletes the parts that a crash has left in a folder.
    ///
    /// @param name the text before the identification in the names of parts, without the first dot
    static void sweep(Path folder, Pattern name) throws IOException {
        Pattern part = Pattern.compile("\\.(?:" + name.pattern() + ")" + ID_PATTERN);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(
                folder,
                file -> part.matcher(String.valueOf(file.getFileName())).matches()
                        && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))) {
            for (Path file : files) {
                try (FileChannel left = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                    if (lock(left)) {
                        Files.deleteIfExists(file);
                    }
                } catch (NoSuchFileException gone) {
                    // Another process has ended with its part, or has swept, since the folder was listed.
                }
            }
        }
    }

    /// Whether the part is under its name now; not if another file is.
    private boolean publish() throws IOException {
        try {
            link.make(file, part);
            return true;
        } catch (FileAlreadyExistsException e) {
            return isEmpty() && !linksWork() && moved();
        } catch (UnsupportedOperationException noLinks) {
            return reserved() && moved();
        } catch (FileSystemException e) {
            if (!meansNoLinks(e)) {
                throw e;
            }
            return reserved() && moved();
        }
    }

    private boolean reserved() throws IOException {
        try {
            Files.createFile(file);
            return true;
        } catch (FileAlreadyExistsException e) {
            return isEmpty();
        }
    }

    private boolean moved() throws IOException {
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        return true;
    }

    private boolean isEmpty() throws IOException {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == 0;
    }

    /// Only where they do not, an attempt may have left an empty file.
    private boolean linksWork() throws IOException {
        Path probe = beside(".link");
        Files.deleteIfExists(probe);
        try {
            link.make(probe, part);
            Files.delete(probe);
            return true;
        } catch (UnsupportedOperationException noLinks) {
            return false;
        } catch (FileSystemException e) {
            if (!meansNoLinks(e)) {
                throw e;
            }
            return false;
        }
    }

    private static boolean meansNoLinks(FileSystemException e) {
        String reason = e.getReason() == null ? "" : e.getReason().toLowerCase(Locale.ROOT);
        return e.getClass() == FileSystemException.class
                && (reason.contains("not permitted")
                        || reason.contains("not supported")
                        || reason.contains("not implemented")
                        || reason.contains("incorrect function"));
    }

    /// A file that was there may have been made by an attempt that crashed before it forced the folder.
    private Found keep(long bytes, String sha256) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                || Files.size(file) != bytes
                || !hash().equals(sha256)) {
            return Found.OTHER;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
        forceFolder();
        return Found.SAME;
    }

    private String hash() throws IOException {
        MessageDigest digest = Sha256.digest();
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private void forceFolder() throws IOException {
        Path folder = file.getParent();
        if (folder == null) {
            throw new NoSuchFileException(file.toString(), null, "it has no folder");
        }
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /// A part that cannot be completed would only take space.
    private void discard(Exception cause) {
        try {
            Files.deleteIfExists(part);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
