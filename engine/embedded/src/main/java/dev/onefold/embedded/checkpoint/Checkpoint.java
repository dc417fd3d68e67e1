package dev.onefold.embedded.checkpoint;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Payload;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The progress of each source in the results, and the files that hold these: one position per source for all
/// shards. The file `CHECKPOINT` is replaced whole, by a rename; so it is the one before or this one, and one
/// that cannot be read was damaged.
///
///     magic "ONEFCKPT" 8, number of the format 4, length of the payload 4,
///     CRC-32C of number, length and payload 4, payload
///
/// @param identity of the data directory
/// @param definition canonical text of the pipeline that the rows were written under
/// @param rows per shard the segments that make it up
/// @param groupLogs the logs that name groups and hold cells, oldest first
/// @param letters the log of dead letters
/// @param journal the first position of the journal whose entries are not in the results yet
/// @param causes how often records had causes, by the names of [dev.onefold.core.Causes]; empty if an earlier build
///     wrote the checkpoint, which did not count them
/// @param batches state of the batches; empty if the pipeline makes none
/// @param seenMs the latest time that is certain to have come, milliseconds since 1970; decides which ids are forgotten
public record Checkpoint(
        long identity,
        long number,
        Instant at,
        String definition,
        List<List<Extent>> rows,
        List<Log> groupLogs,
        Log letters,
        Journal.Position journal,
        List<Source.Known> sources,
        Counts counts,
        Map<String, Long> causes,
        byte[] batches,
        long seenMs) {
    private static final long MAGIC = 0x4f4e4546434b5054L; // "ONEFCKPT", big-endian.
    private static final int FORMAT = 10;
    private static final int FORMAT_BEFORE = 9; // Without the log of deliveries in the state of batches.
    private static final int HEADER_BYTES = 20;

    public Checkpoint {
        rows = rows.stream().map(List::copyOf).toList();
        groupLogs = List.copyOf(groupLogs);
        sources = List.copyOf(sources);
        causes = Map.copyOf(causes);
    }

    /// A log by its number, and its valid length.
    public record Log(long sequence, long length) {}

    /// The same with the logs that it names.
    public Checkpoint naming(List<Log> groups, Log letterLog) {
        return new Checkpoint(
                identity,
                number,
                at,
                definition,
                rows,
                groups,
                letterLog,
                journal,
                sources,
                counts,
                causes,
                batches,
                seenMs);
    }

    /// Reads the checkpoint of a directory; `null` if it has none yet.
    public static @Nullable Checkpoint read(Path directory) {
        Path file = file(directory);
        if (!Disk.exists(file)) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.wrap(Disk.readAll(file));
        if (bytes.capacity() < HEADER_BYTES || bytes.getLong(0) != MAGIC) {
            throw Disk.corrupt(file, 0, "it does not begin like a checkpoint");
        }
        int length = bytes.getInt(12);
        if (length != bytes.capacity() - HEADER_BYTES || bytes.getInt(16) != checksum(bytes)) {
            throw Disk.corrupt(file, 16, "the checksum of the checkpoint is wrong");
        }
        if (bytes.getInt(8) != FORMAT && bytes.getInt(8) != FORMAT_BEFORE) {
            throw FileHeader.otherFormat(file, bytes.getInt(8), FORMAT);
        }
        try {
            return decode(new DataInputStream(new ByteArrayInputStream(bytes.array(), HEADER_BYTES, length)));
        } catch (IOException e) {
            throw new EngineException(EngineException.Kind.CORRUPT, "Checkpoint " + file + " ends too early", e);
        }
    }

    private static Path file(Path directory) {
        return directory.resolve("CHECKPOINT");
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().clear().position(8).limit(16));
        crc.update(bytes.duplicate().clear().position(HEADER_BYTES));
        return (int) crc.getValue();
    }

    /// Writes the checkpoint; durable when this returns.
    public void write(Path directory) throws OutOfSpaceException {
        byte[] payload = encode();
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + payload.length);
        bytes.putLong(MAGIC).putInt(FORMAT).putInt(payload.length).putInt(0).put(payload);
        bytes.putInt(16, checksum(bytes));
        Disk.replace(file(directory), bytes.clear());
    }

    private byte[] encode() {
        return Payload.of(1 << 12, out -> {
            out.writeLong(identity);
            out.writeLong(number);
            out.writeLong(at.getEpochSecond());
            out.writeInt(at.getNano());
            Payload.write(out, definition);
            out.writeInt(rows.size());
            for (List<Extent> shard : rows) {
                out.writeInt(shard.size());
                for (Extent extent : shard) {
                    out.writeLong(extent.sequence());
                    out.writeInt(extent.length());
                }
            }
            out.writeInt(groupLogs.size());
            for (Log log : groupLogs) {
                writeLog(out, log);
            }
            writeLog(out, letters);
            out.writeLong(journal.segment());
            out.writeLong(journal.at());
            out.writeLong(journal.number());
            out.writeInt(journal.chain());
            out.writeLong(journal.last());
            out.writeInt(sources.size());
            for (Source.Known source : sources) {
                write(out, source);
            }
            out.writeLong(counts.accepted());
            out.writeLong(counts.duplicate());
            out.writeLong(counts.stale());
            out.writeLong(counts.conflicting());
            out.writeLong(counts.rejected());
            out.writeLong(counts.silent());
            Payload.write(out, batches);
            out.writeLong(seenMs);
            out.writeInt(causes.size());
            for (Map.Entry<String, Long> cause : causes.entrySet()) {
                Payload.write(out, cause.getKey());
                out.writeLong(cause.getValue());
            }
        });
    }

    private static void write(DataOutputStream out, Source.Known source) throws IOException {
        Payload.write(out, source.name());
        out.writeLong(source.records());
        Payload.write(out, source.header());
        switch (source.position()) {
            case Position.File(long bytes, byte[] sha256, boolean unfinished) -> {
                out.writeByte(1);
                out.writeLong(bytes);
                Payload.write(out, sha256);
                out.writeBoolean(unfinished);
            }
            case Position.Lines(long bytes) -> {
                out.writeByte(2);
                out.writeLong(bytes);
            }
            case Position.Partition(long first, long next, String mark, List<Position.Gap> gaps) -> {
                out.writeByte(4);
                out.writeLong(first);
                out.writeLong(next);
                Payload.write(out, mark);
                out.writeInt(gaps.size());
                for (Position.Gap gap : gaps) {
                    out.writeLong(gap.from());
                    out.writeLong(gap.to());
                    out.writeLong(gap.at().toEpochMilli());
                }
            }
        }
    }

    private static Source.Known readSource(DataInputStream in) throws IOException {
        String name = Payload.text(in);
        long records = in.readLong();
        byte[] header = Payload.bytes(in);
        byte kind = in.readByte();
        Position position = switch (kind) {
            case 1 -> new Position.File(in.readLong(), Payload.bytes(in), in.readBoolean());
            case 2 -> new Position.Lines(in.readLong());
            case 3 -> new Position.Partition(in.readLong(), in.readLong(), "", List.of());
            case 4 -> new Position.Partition(in.readLong(), in.readLong(), Payload.text(in), readGaps(in));
            default -> throw new IOException("a position of kind " + kind);
        };
        return new Source.Known(name, records, header, position);
    }

    private static List<Position.Gap> readGaps(DataInputStream in) throws IOException {
        List<Position.Gap> gaps = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            gaps.add(new Position.Gap(in.readLong(), in.readLong(), Instant.ofEpochMilli(in.readLong())));
        }
        return gaps;
    }

    private static void writeLog(DataOutputStream out, Log log) throws IOException {
        out.writeLong(log.sequence);
        out.writeLong(log.length);
    }

    private static Checkpoint decode(DataInputStream in) throws IOException {
        long identity = in.readLong();
        long number = in.readLong();
        Instant at = Instant.ofEpochSecond(in.readLong(), in.readInt());
        String definition = Payload.text(in);
        List<List<Extent>> rows = new ArrayList<>();
        for (int shards = in.readInt(); shards > 0; shards--) {
            List<Extent> extents = new ArrayList<>();
            for (int count = in.readInt(); count > 0; count--) {
                extents.add(new Extent(in.readLong(), in.readInt()));
            }
            rows.add(extents);
        }
        List<Log> groupLogs = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            groupLogs.add(new Log(in.readLong(), in.readLong()));
        }
        Log letters = new Log(in.readLong(), in.readLong());
        Journal.Position journal =
                new Journal.Position(in.readLong(), in.readLong(), in.readLong(), in.readInt(), in.readLong());
        List<Source.Known> sources = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            sources.add(readSource(in));
        }
        Counts counts =
                new Counts(in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
        byte[] batches = Payload.bytes(in);
        long seenMs = in.readLong();
        Map<String, Long> causes = new HashMap<>();
        for (int count = in.available() == 0 ? 0 : in.readInt(); count > 0; count--) {
            causes.put(Payload.text(in), in.readLong());
        }
        return new Checkpoint(
                identity,
                number,
                at,
                definition,
                rows,
                groupLogs,
                letters,
                journal,
                sources,
                counts,
                causes,
                batches,
                seenMs);
    }

    /// A segment by its number, and its valid length.
    public record Extent(long sequence, int length) {}
}
