package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.Hash;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.OutOfSpaceException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// The files of one shard's segments, `rows-SHARD-SEQUENCE`.
///
///     header 64 = magic "ONEFROWS" 8, format 4, identity of the data directory 8, shard 4, sequence 8,
///                 CRC-32C of these 4, zeros
///     frames, see [Segment]; behind the length that the checkpoint names, anything
public final class RowFiles {
    private static final String MAGIC = "ONEFROWS";
    private static final int FORMAT = 200 + Hash.VERSION; // The hash defines the shard in which a row is looked for.

    private final Path directory;
    private final long identity;
    private final int shard;

    public RowFiles(Path directory, long identity, int shard) {
        this.directory = directory;
        this.identity = identity;
        this.shard = shard;
    }

    /// The file of a segment.
    public Path file(long sequence) {
        return directory.resolve("rows-" + shard + "-" + sequence);
    }

    private ByteBuffer header(long sequence) {
        ByteBuffer fields = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        fields.putInt(shard).putLong(sequence);
        return FileHeader.of(MAGIC, FORMAT, identity, Segment.FILE_HEADER_BYTES, fields.array());
    }

    /// Writes a range of a segment as one frame and forces it. Called again after a full disk, it does the same
    /// again.
    public void write(RowStore.Range range, long checkpoint) throws OutOfSpaceException {
        Segment segment = range.segment();
        Path file = file(segment.sequence);
        boolean fresh = range.from() == Segment.FILE_HEADER_BYTES;
        if (fresh) {
            Disk.allocate(file, Segment.BYTES);
        }
        Frames.seal(segment, range.from(), range.to(), checkpoint);
        FileChannel channel = Disk.open(file);
        try {
            if (fresh) {
                Disk.write(channel, file, header(segment.sequence), 0);
            }
            Disk.write(channel, file, segment.bytes(range.from(), range.to()), range.from());
            Disk.force(channel, file);
        } finally {
            Disk.close(channel, file);
        }
    }

    /// Reads a segment that the checkpoint names into memory, checked.
    public void read(Segment segment, int length) {
        Path file = file(segment.sequence);
        if (!Files.exists(file)) {
            throw Disk.corrupt(file, 0, "the file is gone, but the checkpoint names it");
        }
        FileChannel channel = Disk.openToRead(file);
        try {
            FileHeader.require(header(segment.sequence), channel, file);
            if (length < Segment.FILE_HEADER_BYTES
                    || length > Segment.BYTES
                    || !Disk.read(
                            channel,
                            file,
                            segment.bytes(Segment.FILE_HEADER_BYTES, length),
                            Segment.FILE_HEADER_BYTES)) {
                throw Disk.corrupt(
                        file, Disk.size(channel, file), "the file ends there, the checkpoint says " + length);
            }
        } finally {
            Disk.close(channel, file);
        }
        int corrupt = Frames.firstCorrupt(segment, length);
        if (corrupt >= 0) {
            throw Disk.corrupt(file, corrupt, "the checksum of the frame is wrong");
        }
        segment.used = length;
    }

    /// Lets a segment that is durable be read from its file instead of its memory, if the file system can.
    ///
    /// @return whether it can
    boolean map(Segment segment) {
        Path file = file(segment.sequence);
        FileChannel channel = Disk.openToRead(file);
        Arena arena = Arena.ofShared();
        boolean isMapped = false;
        try {
            segment.map(channel.map(FileChannel.MapMode.READ_ONLY, 0, Segment.BYTES, arena), arena);
            isMapped = true;
        } catch (UnsupportedOperationException | IOException e) {
            // It stays in memory: no answer depends on its place.
        } finally {
            Disk.close(channel, file);
            if (!isMapped) {
                arena.close();
            }
        }
        return isMapped;
    }

    /// Deletes the file of a segment that no checkpoint names any more.
    public void delete(long sequence) {
        Disk.delete(file(sequence));
    }
}
