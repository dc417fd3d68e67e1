package dev.onefold.embedded.disk;

import dev.onefold.embedded.EngineException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// How a binary file of ours begins, so that one of another version is recognised by its number, and never misread.
///
///     header = magic 8 (ASCII), format 4, fields of the kind of file, CRC-32C of these 4, zeros; little-endian
public final class FileHeader {
    private static final int FORMAT_AT = 8;
    private static final int FIELDS_AT = 12;
    private static final int FORMAT_MAX = 0xffff; // What is greater is damage.

    private FileHeader() {}

    /// The header of a file.
    ///
    /// @param bytes its length, of which 16 are no fields
    /// @param fields what tells this file from others of its kind
    public static ByteBuffer of(String magic, int format, int bytes, byte... fields) {
        ByteBuffer header = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        header.put(magic.getBytes(StandardCharsets.US_ASCII)).putInt(format).put(fields);
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
        int length = found.position();
        int format = found.getInt(FORMAT_AT);
        int ours = header.getInt(FORMAT_AT);
        boolean sameKind = length >= FIELDS_AT && found.getLong(0) == header.getLong(0);
        if (sameKind && format != ours && format >= 0 && format <= FORMAT_MAX) {
            throw otherFormat(file, format, ours);
        }
        if (!found.flip().equals(header)) {
            throw Disk.corrupt(file, 0, "it does not begin as it was written");
        }
    }

    /// A file that another version of Onefold wrote.
    public static EngineException otherFormat(Path file, long found, long ours) {
        return new EngineException(
                EngineException.Kind.FORMAT,
                "File " + file + " has format " + found + "; this Onefold reads format " + ours
                        + ". Use the version that wrote it.");
    }
}
