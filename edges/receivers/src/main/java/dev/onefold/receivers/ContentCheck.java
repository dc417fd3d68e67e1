package dev.onefold.receivers;

import com.github.luben.zstd.ZstdInputStream;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;

/// The properties of a content, which is read once, from its first byte to its last.
///
/// @param bytes bytes of the file
/// @param sha256 SHA-256 of the file, in hex
/// @param records number of lines after decompression
/// @param failure the reason why the content cannot be read to its end; empty if it can
record ContentCheck(long bytes, String sha256, long records, String failure) {
    private static final int BUFFER_BYTES = 1 << 16;

    static ContentCheck of(Path file) {
        MessageDigest digest = Sha256.digest();
        long[] bytes = new long[1];
        Lines lines = new Lines();
        String failure = "";
        try (InputStream in = new Counted(new DigestInputStream(Files.newInputStream(file), digest), bytes)) {
            try {
                decompressed(file, in).transferTo(lines);
            } catch (IOException e) {
                failure = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            }
            in.transferTo(OutputStream.nullOutputStream()); // Bytes that a decompressor leaves belong to the digest.
        } catch (IOException e) {
            failure = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        }
        return new ContentCheck(bytes[0], HexFormat.of().formatHex(digest.digest()), lines.count(), failure);
    }

    private static InputStream decompressed(Path file, InputStream in) throws IOException {
        String name = file.toString();
        if (name.endsWith(".gz")) {
            return new GZIPInputStream(in, BUFFER_BYTES);
        }
        return name.endsWith(".zst") ? zstd(in) : in;
    }

    private static InputStream zstd(InputStream in) throws IOException {
        try {
            return Zstandard.open(in);
        } catch (NoClassDefFoundError missing) {
            throw new IOException(
                    "it is compressed with Zstandard; add com.github.luben:zstd-jni to the class path", missing);
        }
    }

    /// A class of its own, because the JVM looks for the library as soon as it verifies the class that names it.
    private static final class Zstandard {
        static InputStream open(InputStream in) throws IOException {
            return new ZstdInputStream(in);
        }
    }

    /// The differences from a manifest, as sentences.
    List<String> compare(Manifest manifest) {
        List<String> wrong = new ArrayList<>();
        if (bytes != manifest.bytes()) {
            wrong.add("it has " + bytes + " bytes, its manifest says " + manifest.bytes() + ".");
        }
        if (!sha256.equals(manifest.sha256())) {
            wrong.add("its SHA-256 is " + sha256 + ", its manifest says " + manifest.sha256() + ".");
        }
        if (!failure.isEmpty()) {
            wrong.add("it cannot be read to its end: " + FolderCheck.shown(failure) + ".");
        } else if (records != manifest.records()) {
            wrong.add("it has " + records + " records, its manifest says " + manifest.records() + ".");
        }
        return wrong;
    }

    /// Counts lines; the last one may lack its end.
    private static final class Lines extends OutputStream {
        private long ends;
        private boolean isOpen;

        @Override
        public void write(int one) {
            isOpen = one != '\n';
            ends += isOpen ? 0 : 1;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            for (int i = offset; i < offset + length; i++) {
                ends += bytes[i] == '\n' ? 1 : 0;
            }
            isOpen = length > 0 ? bytes[offset + length - 1] != '\n' : isOpen;
        }

        long count() {
            return ends + (isOpen ? 1 : 0);
        }
    }

    private static final class Counted extends FilterInputStream {
        private final long[] bytes;

        Counted(InputStream in, long[] bytes) {
            super(in);
            this.bytes = bytes;
        }

        @Override
        public int read() throws IOException {
            int one = in.read();
            bytes[0] += one < 0 ? 0 : 1;
            return one;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int count = in.read(target, offset, length);
            bytes[0] += Math.max(count, 0);
            return count;
        }
    }
}
