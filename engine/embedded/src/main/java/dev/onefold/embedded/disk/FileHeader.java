package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The header of each of our binary files, so that a file of another version is recognized by its number, and
/// never misread.
///
///     header = magic 8 (ASCII), format 4, identity of the data directory 8, fields of the kind of file,
///              CRC-32C of these 4, zeros; little-endian
public final class FileHeader {
    private static final int FORMAT_AT = 8;
    private static final int IDENTITY_AT = 12;
    private static final int CRC_AT_MIN = 12; // Of the formats without an identity.

    private FileHeader() {}

    /// The header of a file.
    ///
    /// @param identity of the data directory, so that no file of another one is taken for its own
    /// @param bytes its length, 24 of which are not fields
    /// @param fields the fields that tell this file from others of its kind
    public static ByteBuffer of(String magic, int format, long identity, int bytes, byte... fields) {
        ByteBuffer header = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        header.put(magic.getBytes(StandardCharsets.US_ASCII))
                .putInt(format)
                .putLong(identity)
                .put(fields);
        CRC32C crc = new CRC32C();
        crc.update(header.array(), 0, header.position());
        header.putInt((int) crc.getValue());
        return header.clear();
    }

    /// Requires that a file begins with a header.
    ///
    /// @throws EngineException if it has another format, or is not as it was written
    public static void require(ByteBuffer header, FileChannel channel, Path file) {
        ByteBuffer found = ByteBuffer.allocate(header.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        Disk.read(channel, file, found, 0);
        if (found.flip().equals(header)) {
            return;
        }
        if (found.limit() < header.limit() || found.getLong(0) != header.getLong(0) || !isWhole(found)) {
            throw Disk.corrupt(file, 0, "it does not begin as it was written");
        }
        int format = found.getInt(FORMAT_AT);
        if (format != header.getInt(FORMAT_AT)) {
            throw otherFormat(file, format, header.getInt(FORMAT_AT));
        }
        if (found.getLong(IDENTITY_AT) != header.getLong(IDENTITY_AT)) {
            throw otherDirectory(file);
        }
        throw Disk.corrupt(file, 0, "it is the file of another place in the data directory");
    }

    /// Whether a header is as it was written. The place of its checksum depends on its format, which is not
    /// known yet.
    private static boolean isWhole(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        for (int at = 0; at + Integer.BYTES <= header.limit(); at++) {
            if (at >= CRC_AT_MIN && header.getInt(at) == (int) crc.getValue()) {
                return true;
            }
            crc.update(header.get(at));
        }
        return false;
    }

    /// The identity in the header of a file; `null` if the header is not of this kind, or is damaged.
    static @Nullable Long identity(String magic, int format, Path file) {
        int bytes = IDENTITY_AT + Long.BYTES + Integer.BYTES;
        ByteBuffer found = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        FileChannel channel = Disk.openToRead(file);
        try {
            if (!Disk.read(channel, file, found, 0)) {
                return null;
            }
        } finally {
            Disk.close(channel, file);
        }
        long identity = found.getLong(IDENTITY_AT);
        return found.flip().equals(of(magic, format, identity, bytes)) ? identity : null;
    }

    /// The failure for a file that was written in another data directory.
    public static EngineException otherDirectory(Path file) {
        return new EngineException(
                EngineException.Kind.CORRUPT,
                "File " + file + " belongs to another data directory: it bears another identity than CURRENT."
                        + " Its totals cannot be trusted, so none are given. Put the files of one data directory back"
                        + " together, from one backup, or move the directory away and fold the input again.");
    }

    /// The failure for a file that another version of Onefold wrote.
    public static EngineException otherFormat(Path file, long found, long ours) {
        return new EngineException(
                EngineException.Kind.FORMAT,
                "File " + file + " has format " + found + "; this Onefold reads format " + ours
                        + ". Use the version that wrote it.");
    }
}
