package dev.onefold.embedded.file;

import com.github.luben.zstd.ZstdInputStream;
import dev.onefold.api.body.Gzip;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/// Reads files that are compressed if their names say so.
public final class Decompression {
    private static final int BUFFER_BYTES = 1 << 18;

    private Decompression() {}

    /// Whether the name is one of a compressed file.
    public static boolean isCompressed(Path path) {
        return path.toString().endsWith(".gz") || path.toString().endsWith(".zst");
    }

    /// Opens a file at its first byte, decompressed.
    ///
    /// @param read receives how many bytes of the file itself are read
    public static InputStream open(Path path, AtomicLong read) throws IOException {
        read.set(0);
        return open(path, new Counted(Files.newInputStream(path), read));
    }

    /// Why a file cannot be read: the message of a decompressor hardly explains a file that was cut.
    ///
    /// @param file its path
    public static String reason(String file, IOException e) {
        if (!isCompressed(Path.of(file))) {
            return String.valueOf(e.getMessage());
        }
        if (new File(file).length() == 0) {
            return "it is empty, and so is no compressed file";
        }
        String said = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        if (said.contains("too much memory")) {
            return "its window is larger than 128 MiB (--long=27), which is the limit here. Decompress it outside: zstd -dc"
                    + " --long=31 FILE | onefold run PIPELINE --input -";
        }
        return e instanceof EOFException || said.contains("Truncated")
                ? "its end is missing (" + said + "): it was cut, or is still being written"
                : said;
    }

    /// Decompresses a file that is open at its first byte, and closes it if that fails.
    ///
    /// @param path its name decides how it is compressed
    public static InputStream open(Path path, InputStream file) throws IOException {
        try {
            if (path.toString().endsWith(".gz")) {
                return new Gzip(file, BUFFER_BYTES);
            }
            return path.toString().endsWith(".zst") ? zstd(path, new BufferedInputStream(file, BUFFER_BYTES)) : file;
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    /// The JDK has no such decompressor, and the choice of a library with native code is left to its user.
    private static InputStream zstd(Path path, InputStream file) throws IOException {
        try {
            return Zstandard.open(file);
        } catch (NoClassDefFoundError missing) {
            throw new IOException(
                    path + " is compressed with Zstandard. Add com.github.luben:zstd-jni to the class path.", missing);
        }
    }

    /// A class of its own, because the JVM looks for the library as soon as it verifies the class that names it.
    private static final class Zstandard {
        static InputStream open(InputStream file) throws IOException {
            file.mark(1);
            if (file.read() < 0) { // The decompressor would take it for a whole file without content.
                throw new EOFException("it is empty, and so is no Zstandard file");
            }
            file.reset();
            return new ZstdInputStream(new LastByteAlone(file));
        }
    }

    /// Gives the last byte of a file by itself. The decompressor takes the end of the file for the end of a frame if
    /// it has read nothing since the frame before has ended, so a cut frame would be lost without an error.
    private static final class LastByteAlone extends PushbackInputStream {
        LastByteAlone(InputStream file) {
            super(file);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = super.read(bytes, offset, length);
            if (count < 2) {
                return count;
            }
            int next = read();
            if (next >= 0) {
                unread(next);
                return count;
            }
            unread(bytes[offset + count - 1]);
            return count - 1;
        }
    }

    private static final class Counted extends InputStream {
        private final InputStream file;
        private final AtomicLong read;

        Counted(InputStream file, AtomicLong read) {
            this.file = file;
            this.read = read;
        }

        @Override
        public int read() throws IOException {
            int one = file.read();
            read.addAndGet(one < 0 ? 0 : 1);
            return one;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = file.read(bytes, offset, length);
            read.addAndGet(Math.max(count, 0));
            return count;
        }

        /// The reader of lines asks how much room it needs.
        @Override
        public int available() throws IOException {
            return file.available();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
