package dev.onefold.embedded.disk;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// The bytes of an entry in one of our files. Texts and arrays have their length, 4, in front of them.
public final class Payload {
    private Payload() {}

    /// Writes the fields of an entry.
    public interface Writer {
        void write(DataOutputStream out) throws IOException;
    }

    /// The bytes that a writer writes.
    ///
    /// @param bytes expected number of bytes
    public static byte[] of(int bytes, Writer writer) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream(bytes);
        try {
            writer.write(new DataOutputStream(payload));
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        return payload.toByteArray();
    }

    public static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    public static void write(DataOutputStream out, String text) throws IOException {
        write(out, text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] bytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    public static String text(DataInputStream in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }
}
