package dev.onefold.embedded.disk;

import dev.onefold.core.Place;
import dev.onefold.embedded.EngineException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// What stands in the journal: all that changes the state and cannot be read again.
///
///     lines    = 5, source, lines before 8, offset 8, arrived 8, lines
///     redrive  = 6, id 8, source, line 8, offset 8, arrived 8, record
///     purge    = 3, count 4, ids
///     oversize = 4, source, lines before 8, offset 8, bytes 8, SHA-256 32
public sealed interface Entry {
    /// Whole lines of a source, behind so many lines and bytes of it.
    ///
    /// @param arrivedMs when they arrived, in milliseconds since 1970: a replay decides as it was decided then
    record Lines(String source, long recordsBefore, long offset, long arrivedMs, byte[] bytes, int length)
            implements Entry {}

    /// A dead letter that is sent through again, as this record, under the place where it was first read.
    record Redrive(long id, Place place, long arrivedMs, byte[] record) implements Entry {}

    /// Dead letters that are removed for good.
    record Purge(List<Long> ids) implements Entry {
        public Purge {
            ids = List.copyOf(ids);
        }
    }

    /// A line over the limit, of which only this is kept.
    record Oversized(String source, long recordsBefore, long offset, long bytes, byte[] sha256) implements Entry {}

    /// As it is written.
    default ByteBuffer encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            switch (this) {
                case Lines lines -> {
                    out.writeByte(5);
                    write(out, lines.source);
                    out.writeLong(lines.recordsBefore);
                    out.writeLong(lines.offset);
                    out.writeLong(lines.arrivedMs);
                    out.write(lines.bytes, 0, lines.length);
                }
                case Redrive redrive -> {
                    out.writeByte(6);
                    out.writeLong(redrive.id);
                    write(out, redrive.place.source());
                    out.writeLong(redrive.place.line());
                    out.writeLong(redrive.place.offset());
                    out.writeLong(redrive.arrivedMs);
                    out.write(redrive.record);
                }
                case Purge purge -> {
                    out.writeByte(3);
                    out.writeInt(purge.ids.size());
                    for (long id : purge.ids) {
                        out.writeLong(id);
                    }
                }
                case Oversized oversized -> {
                    out.writeByte(4);
                    write(out, oversized.source);
                    out.writeLong(oversized.recordsBefore);
                    out.writeLong(oversized.offset);
                    out.writeLong(oversized.bytes);
                    out.write(oversized.sha256);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    /// As it was written; the journal has checked that it is whole.
    static Entry decode(byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            return switch (in.readByte()) {
                case 5 -> {
                    String source = read(in);
                    long records = in.readLong();
                    long offset = in.readLong();
                    long arrivedMs = in.readLong();
                    byte[] lines = in.readAllBytes();
                    yield new Lines(source, records, offset, arrivedMs, lines, lines.length);
                }
                case 6 ->
                    new Redrive(
                            in.readLong(),
                            new Place(read(in), in.readLong(), in.readLong()),
                            in.readLong(),
                            in.readAllBytes());
                case 3 -> {
                    List<Long> ids = new ArrayList<>();
                    for (int count = in.readInt(); count > 0; count--) {
                        ids.add(in.readLong());
                    }
                    yield new Purge(ids);
                }
                case 4 -> new Oversized(read(in), in.readLong(), in.readLong(), in.readLong(), in.readAllBytes());
                default ->
                    throw new EngineException(
                            EngineException.Kind.FORMAT,
                            "The journal holds an entry of kind " + payload[0]
                                    + ". Use the version of Onefold that wrote it.");
            };
        } catch (IOException e) {
            throw new IllegalStateException("A checked entry is cut off", e);
        }
    }

    private static void write(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String read(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
