package dev.onefold.embedded.intake;

import dev.onefold.embedded.file.FileMark;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A file held open while it is written to, so that it can be read to its end even if its name changes. One
/// thread asks; its streams may be read by others. It has no channel, because a channel closes for good when
/// a thread that reads from it is interrupted, which is how the engine ends its reader.
final class LiveFile implements AutoCloseable {
    private final Path path;
    private final RandomAccessFile file;
    private final FileMark mark;
    private long quietSinceNanos = System.nanoTime();
    private long sizeBefore;

    private LiveFile(Path path, RandomAccessFile file, FileMark mark) {
        this.path = path;
        this.file = file;
        this.mark = mark;
    }

    /// Opens the file that has the name; `null` if none has it.
    static @Nullable LiveFile open(Path path) throws IOException {
        while (true) {
            FileMark before = FileMark.of(path);
            if (before.isNone()) {
                return null;
            }
            RandomAccessFile file;
            try {
                file = new RandomAccessFile(path.toFile(), "r");
            } catch (FileNotFoundException e) { // It has no such name any more, or may not be read.
                if (FileMark.of(path).isNone()) {
                    return null;
                }
                throw e;
            }
            if (FileMark.of(path).isSameFile(before)) {
                return new LiveFile(path, file, before);
            }
            file.close(); // It was rotated in between.
        }
    }

    FileMark mark() {
        return mark;
    }

    long size() throws IOException {
        long size = file.length();
        if (size != sizeBefore) {
            sizeBefore = size;
            quietSinceNanos = System.nanoTime();
        }
        return size;
    }

    /// Whether another file has the name now.
    boolean isRotated() throws IOException {
        FileMark now = FileMark.of(path);
        return !now.isNone() && !now.isSameFile(mark);
    }

    /// Whether the writer has turned to the new file: that one has content, or nothing came to this one for a while.
    boolean isQuiet(Duration quiet) throws IOException {
        return sizeOfNew() > 0 || System.nanoTime() - quietSinceNanos > quiet.toNanos();
    }

    private long sizeOfNew() throws IOException {
        try {
            return Files.size(path);
        } catch (NoSuchFileException renamedAgain) {
            return 0;
        }
    }

    /// Its content from the first byte to the present end.
    InputStream stream() {
        return new InputStream() {
            private long at;

            @Override
            public int read() throws IOException {
                synchronized (file) {
                    file.seek(at);
                    int one = file.read();
                    at += one < 0 ? 0 : 1;
                    return one;
                }
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                synchronized (file) {
                    file.seek(at);
                    int count = file.read(bytes, offset, length);
                    at += Math.max(count, 0);
                    return count;
                }
            }
        };
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
