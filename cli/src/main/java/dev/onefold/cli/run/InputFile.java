package dev.onefold.cli.run;

import com.github.luben.zstd.ZstdInputStream;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.embedded.FileSource;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;

/// A file to be folded; compressed if its name says so.
///
/// @param path absolute, as it names the source
/// @param bytes its size on disk
/// @param read how many of these bytes are read
public record InputFile(Path path, long bytes, AtomicLong read) {
    private static final int BUFFER_BYTES = 1 << 18;

    /// The file that a text on the command line means.
    public static InputFile of(Caller caller, String text) throws IOException {
        Path path = caller.path(text);
        if (!Files.exists(path)) {
            throw CommandFailure.usage("There is no input file " + caller.shown(path) + ".");
        }
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage(caller.shown(path) + " is not a file that can be read again. To fold what comes"
                    + " through a pipe, send it to standard input, with --input -.");
        }
        if (!Files.isReadable(path)) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Input file " + caller.shown(path) + " may not be read.");
        }
        return new InputFile(path, Files.size(path), new AtomicLong());
    }

    static boolean isCompressed(Path path) {
        return path.toString().endsWith(".gz") || path.toString().endsWith(".zst");
    }

    /// As the engine takes it: a last line without its end is a record.
    ///
    /// @param separate whether it is known to be no copy of what was folded under another name
    FileSource source(boolean separate) {
        return new FileSource(path.toString(), () -> open(path, read), false, separate);
    }

    /// Opens a file at its first byte, decompressed; counts the bytes of the file itself.
    public static InputStream open(Path path, AtomicLong read) throws IOException {
        read.set(0);
        InputStream file = new Counted(Files.newInputStream(path), read);
        try {
            if (path.toString().endsWith(".gz")) {
                return new GZIPInputStream(new BufferedInputStream(file, BUFFER_BYTES), BUFFER_BYTES);
            }
            return path.toString().endsWith(".zst")
                    ? new ZstdInputStream(new BufferedInputStream(file, BUFFER_BYTES))
                    : file;
        } catch (IOException e) {
            file.close();
            throw e;
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

        /// The decompressor asks whether another member follows the one that ended.
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
