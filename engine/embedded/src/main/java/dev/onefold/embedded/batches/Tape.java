package dev.onefold.embedded.batches;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Scale;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Bytes that only grow at their end and are released from their beginning, in files `NAME-N` of equal size. An
/// offset is counted from the first byte ever written. Appended bytes wait in memory for the next checkpoint,
/// which writes and forces them before it names the end. Bytes behind that end after a crash are overwritten.
///
///     file = header 32 (magic 8, format 4, identity of the data directory 8, number of the file 8, CRC-32C 4), bytes
///
/// [#append], [#cut] and [#end] are guarded by the engine's lock. [#write] is called by the thread that writes
/// checkpoints, [#open] by any thread, for bytes that a durable checkpoint covers and that were not released.
final class Tape {
    private static final int HEADER_BYTES = 32;
    private static final int FORMAT = 1;
    private static final int FILE_BYTES = Scale.of(64 << 20);
    private static final int BLOCK_BYTES = Scale.of(1 << 20);
    private static final int READ_BYTES = 1 << 16;

    private final Path directory;
    private final String name;
    private final String magic;
    private final long identity;
    private List<ByteBuffer> blocks = new ArrayList<>();
    private byte[] block = new byte[0];
    private int blockLength;
    private long cutTo;
    private long end;
    private long begin;
    private long deletedTo; // Files with a number below it are gone.

    /// @param name of the files, without their numbers
    /// @param magic of eight letters
    public Tape(Path directory, String name, String magic, long identity) {
        this.directory = directory;
        this.name = name;
        this.magic = magic;
        this.identity = identity;
    }

    /// Continues behind the bytes that a checkpoint covers.
    void load(long from, long to) {
        begin = from;
        deletedTo = from / FILE_BYTES;
        cutTo = to;
        end = to;
        for (long number = from / FILE_BYTES; from < to && number <= (to - 1) / FILE_BYTES; number++) {
            require(number, Math.min(to, (number + 1) * FILE_BYTES) - number * FILE_BYTES);
        }
    }

    private void require(long number, long bytes) {
        Path file = file(number);
        if (!Files.exists(file)) {
            throw Disk.corrupt(file, 0, "the file is gone, but the checkpoint names it");
        }
        FileChannel open = Disk.openToRead(file);
        try {
            FileHeader.require(header(number), open, file);
            if (Disk.size(open, file) < HEADER_BYTES + bytes) {
                throw Disk.corrupt(file, Disk.size(open, file), "bytes are missing that the checkpoint covers");
            }
        } finally {
            Disk.close(open, file);
        }
    }

    /// The failure for bytes that are not as they were written.
    EngineException corrupt(long offset, String what) {
        return Disk.corrupt(file(offset / FILE_BYTES), HEADER_BYTES + offset % FILE_BYTES, what);
    }

    /// Behind the last byte.
    long end() {
        return end;
    }

    /// The first byte that was not released.
    long begin() {
        return begin;
    }

    /// Bytes that wait for the next checkpoint.
    long pendingBytes() {
        return end - cutTo;
    }

    /// Appends bytes, and one more byte.
    void append(byte[] bytes, int from, int to, int last) {
        append(bytes, from, to);
        if (blockLength == block.length) {
            beginBlock();
        }
        block[blockLength++] = (byte) last;
        end++;
    }

    /// Appends bytes.
    void append(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to) {
            if (blockLength == block.length) {
                beginBlock();
            }
            int count = Math.min(to - at, block.length - blockLength);
            System.arraycopy(bytes, at, block, blockLength, count);
            blockLength += count;
            at += count;
        }
        end += to - from;
    }

    private void beginBlock() {
        endBlock();
        block = new byte[BLOCK_BYTES];
    }

    private void endBlock() {
        if (blockLength > 0) {
            blocks.add(ByteBuffer.wrap(block, 0, blockLength).slice());
        }
        block = new byte[0];
        blockLength = 0;
    }

    /// Appended bytes that are to be written.
    ///
    /// @param from offset of the first byte
    record Cut(long from, List<ByteBuffer> blocks) {}

    /// Takes the bytes that were appended since the last cut.
    Cut cut() {
        endBlock();
        Cut cut = new Cut(cutTo, blocks);
        blocks = new ArrayList<>();
        cutTo = end;
        return cut;
    }

    /// Writes a cut; durable when this returns. After a full disk it can be written again.
    void write(Cut cut) throws OutOfSpaceException {
        long at = cut.from;
        Writing writing = null;
        try {
            for (ByteBuffer each : cut.blocks) {
                ByteBuffer rest = each.duplicate();
                while (rest.hasRemaining()) {
                    long number = at / FILE_BYTES;
                    if (writing == null || writing.number != number) {
                        if (writing != null) {
                            writing.finish();
                        }
                        writing = new Writing(number);
                    }
                    int inFile = (int) (at % FILE_BYTES);
                    int count = Math.min(rest.remaining(), FILE_BYTES - inFile);
                    Disk.write(
                            writing.channel,
                            writing.file,
                            rest.slice(rest.position(), count),
                            HEADER_BYTES + (long) inFile);
                    rest.position(rest.position() + count);
                    at += count;
                }
            }
            if (writing != null) {
                writing.finish();
                writing = null;
            }
        } finally {
            if (writing != null) {
                Disk.close(writing.channel, writing.file);
            }
        }
    }

    /// A file that is being written.
    private final class Writing {
        final long number;
        final Path file;
        final FileChannel channel;

        Writing(long number) throws OutOfSpaceException {
            this.number = number;
            file = file(number);
            if (!Files.exists(file)) {
                Disk.create(file, header(number), HEADER_BYTES);
            }
            channel = Disk.open(file);
        }

        void finish() {
            Disk.force(channel, file);
            Disk.close(channel, file);
        }
    }

    private ByteBuffer header(long number) {
        byte[] fields = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        return FileHeader.of(magic, FORMAT, identity, HEADER_BYTES, fields);
    }

    private Path file(long number) {
        return directory.resolve(name + "-" + (number + 1));
    }

    /// Deletes the files below an offset. Nobody reads there any more.
    ///
    /// @param below the offset; a durable checkpoint names nothing below it
    void release(long below) {
        for (; (deletedTo + 1) * FILE_BYTES <= below; deletedTo++) {
            if (Files.exists(file(deletedTo))) {
                Disk.delete(file(deletedTo));
            }
        }
    }

    /// From now on nothing below an offset is needed.
    void letGo(long below) {
        begin = Math.max(begin, below);
    }

    /// The names of the files from the first needed byte on.
    List<String> files() {
        List<String> names = new ArrayList<>();
        for (long number = begin / FILE_BYTES; number * FILE_BYTES < end || number == begin / FILE_BYTES; number++) {
            names.add(String.valueOf(file(number).getFileName()));
        }
        return names;
    }

    /// Reads bytes that a checkpoint covers.
    public InputStream open(long from, long to) {
        return new Reading(from, to);
    }

    /// The bytes from one offset to another.
    byte[] read(long from, int length) {
        byte[] bytes = new byte[length];
        try (Reading reading = new Reading(from, from + length)) {
            int read = reading.readNBytes(bytes, 0, length);
            return read == length ? bytes : Arrays.copyOf(bytes, read);
        } catch (java.io.IOException e) {
            throw new IllegalStateException("A tape throws no such exception", e);
        }
    }

    /// Reads one file after the other.
    private final class Reading extends InputStream {
        private final long to;
        private long at;
        private final ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES).limit(0);
        private @Nullable FileChannel channel;
        private Path file = directory;
        private long number = -1;

        Reading(long from, long to) {
            at = from;
            this.to = to;
        }

        @Override
        public int read() {
            return fill() ? buffer.get() & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int from, int length) {
            if (length == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int count = Math.min(length, buffer.remaining());
            buffer.get(target, from, count);
            return count;
        }

        private boolean fill() {
            if (buffer.hasRemaining()) {
                return true;
            }
            if (at == to) {
                return false;
            }
            FileChannel open = channel(at / FILE_BYTES);
            int inFile = (int) (at % FILE_BYTES);
            int count = (int) Math.min(Math.min(READ_BYTES, to - at), FILE_BYTES - inFile);
            buffer.clear().limit(count);
            if (!Disk.read(open, file, buffer, HEADER_BYTES + (long) inFile)) {
                throw Disk.corrupt(file, HEADER_BYTES + (long) inFile, "bytes are missing that a checkpoint covers");
            }
            buffer.flip();
            at += count;
            return true;
        }

        private FileChannel channel(long wanted) {
            FileChannel open = channel;
            if (open != null && number == wanted) {
                return open;
            }
            close();
            number = wanted;
            file = Tape.this.file(wanted);
            open = Disk.openToRead(file);
            channel = open;
            FileHeader.require(header(wanted), open, file);
            return open;
        }

        @Override
        public void close() {
            if (channel != null) {
                Disk.close(channel, file);
                channel = null;
            }
        }
    }
}
