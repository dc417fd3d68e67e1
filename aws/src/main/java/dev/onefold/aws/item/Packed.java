package dev.onefold.aws.item;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// Contributions and deltas as bytes, which are smaller and cheaper to write than attributes of their own.
///
///     contribution = format 1, kind 1; if counted: tuples, amounts, each with their number before
///     delta        = format 1, number of views; per view: its number, cells, values, each with their number before
///     number       = LEB128; a signed one zigzag first; bytes and texts have their length before
public final class Packed {
    private static final int FORMAT = 1;

    private Packed() {}

    /// The bytes of a contribution.
    public static byte[] of(Contribution contribution) {
        return write(out -> {
            out.writeByte(FORMAT);
            out.writeByte(contribution.kind().code());
            writeNumber(out, contribution.groups().size());
            for (Tuple group : contribution.groups()) {
                writeBytes(out, group.bytes());
            }
            writeNumber(out, contribution.amounts().size());
            for (Amount amount : contribution.amounts()) {
                writeAmount(out, amount);
            }
        });
    }

    /// The contribution of these bytes.
    public static Contribution contribution(byte[] bytes) {
        return read(bytes, in -> {
            requireFormat(in);
            Event.Kind kind = Event.Kind.of(in.readByte());
            List<Tuple> groups = new ArrayList<>();
            for (long count = readNumber(in); count > 0; count--) {
                groups.add(new Tuple(readBytes(in)));
            }
            List<Amount> amounts = new ArrayList<>();
            for (long count = readNumber(in); count > 0; count--) {
                amounts.add(readAmount(in));
            }
            return new Contribution(kind, groups, amounts);
        });
    }

    /// The bytes of an amount.
    static byte[] of(Amount amount) {
        return write(out -> {
            out.writeByte(FORMAT);
            writeAmount(out, amount);
        });
    }

    /// The amount of these bytes.
    static Amount amount(byte[] bytes) {
        return read(bytes, in -> {
            requireFormat(in);
            return readAmount(in);
        });
    }

    /// The bytes of deltas, by the number of their view.
    public static byte[] of(SortedMap<Integer, Delta> views) {
        return write(out -> {
            out.writeByte(FORMAT);
            writeNumber(out, views.size());
            for (Map.Entry<Integer, Delta> view : views.entrySet()) {
                writeNumber(out, view.getKey());
                writeDelta(out, view.getValue());
            }
        });
    }

    /// The deltas of these bytes.
    public static SortedMap<Integer, Delta> deltas(byte[] bytes) {
        return read(bytes, in -> {
            requireFormat(in);
            SortedMap<Integer, Delta> views = new TreeMap<>();
            for (long count = readNumber(in); count > 0; count--) {
                views.put((int) readNumber(in), readDelta(in));
            }
            return views;
        });
    }

    private static void writeDelta(DataOutputStream out, Delta delta) throws IOException {
        writeNumber(out, delta.cells().size());
        for (Map.Entry<Delta.Cell, Delta.Sums> entry : delta.cells().entrySet()) {
            writeCell(out, entry.getKey());
            Delta.Sums sums = entry.getValue();
            writeSigned(out, sums.rows());
            writeNumber(out, sums.sums().size());
            for (int i = 0; i < sums.sums().size(); i++) {
                writeBytes(out, sums.sums().get(i).toByteArray());
                writeSigned(out, sums.counts().get(i));
            }
        }
        writeNumber(out, delta.values().size());
        for (Map.Entry<Delta.Value, Long> entry : delta.values().entrySet()) {
            writeCell(out, entry.getKey().cell());
            writeNumber(out, entry.getKey().measure());
            writeAmount(out, entry.getKey().amount());
            writeSigned(out, entry.getValue());
        }
    }

    private static Delta readDelta(DataInputStream in) throws IOException {
        TreeMap<Delta.Cell, Delta.Sums> cells = new TreeMap<>();
        for (long count = readNumber(in); count > 0; count--) {
            Delta.Cell cell = readCell(in);
            long rows = readSigned(in);
            List<BigInteger> sums = new ArrayList<>();
            List<Long> counts = new ArrayList<>();
            for (long sum = readNumber(in); sum > 0; sum--) {
                sums.add(new BigInteger(readBytes(in)));
                counts.add(readSigned(in));
            }
            cells.put(cell, new Delta.Sums(rows, sums, counts));
        }
        TreeMap<Delta.Value, Long> values = new TreeMap<>();
        for (long count = readNumber(in); count > 0; count--) {
            Delta.Cell cell = readCell(in);
            int measure = (int) readNumber(in);
            values.put(new Delta.Value(cell, measure, readAmount(in)), readSigned(in));
        }
        return new Delta(cells, values);
    }

    private static void writeCell(DataOutputStream out, Delta.Cell cell) throws IOException {
        writeNumber(out, cell.rollup());
        writeBytes(out, cell.leaf().bytes());
    }

    private static Delta.Cell readCell(DataInputStream in) throws IOException {
        int rollup = (int) readNumber(in);
        return new Delta.Cell(rollup, new Tuple(readBytes(in)));
    }

    private static void writeAmount(DataOutputStream out, Amount amount) throws IOException {
        switch (amount) {
            case Amount.None _ -> out.writeByte(0);
            case Amount.Number(var value) -> {
                out.writeByte(1);
                writeNumber(out, value.scale());
                writeBytes(out, value.unscaledValue().toByteArray());
            }
            case Amount.Text(var value) -> {
                out.writeByte(2);
                writeBytes(out, value.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static Amount readAmount(DataInputStream in) throws IOException {
        int kind = in.readByte();
        return switch (kind) {
            case 0 -> new Amount.None();
            case 1 -> {
                int scale = (int) readNumber(in);
                yield new Amount.Number(new BigDecimal(new BigInteger(readBytes(in)), scale));
            }
            case 2 -> new Amount.Text(new String(readBytes(in), StandardCharsets.UTF_8));
            default -> throw new IOException("there is no kind of amount " + kind);
        };
    }

    private static void requireFormat(DataInputStream in) throws IOException {
        int format = in.readUnsignedByte();
        if (format != FORMAT) {
            throw new IOException("it has format " + format + ", and this Onefold reads format " + FORMAT
                    + "; deploy the version that wrote it");
        }
    }

    private static void writeSigned(DataOutputStream out, long number) throws IOException {
        writeNumber(out, number << 1 ^ number >> 63);
    }

    private static long readSigned(DataInputStream in) throws IOException {
        long number = readNumber(in);
        return number >>> 1 ^ -(number & 1);
    }

    private static void writeNumber(DataOutputStream out, long number) throws IOException {
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            out.writeByte((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }

    private static long readNumber(DataInputStream in) throws IOException {
        long number = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = in.readUnsignedByte();
            number |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return number;
            }
        }
        throw new IOException("a number does not end");
    }

    private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
        writeNumber(out, bytes.length);
        out.write(bytes);
    }

    private static byte[] readBytes(DataInputStream in) throws IOException {
        long length = readNumber(in);
        if (length < 0 || length > in.available()) {
            throw new IOException("a length of " + length + " is more than there is");
        }
        byte[] bytes = new byte[(int) length];
        in.readFully(bytes);
        return bytes;
    }

    private interface Writer {
        void write(DataOutputStream out) throws IOException;
    }

    private interface Reader<T> {
        T read(DataInputStream in) throws IOException;
    }

    private static byte[] write(Writer writer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            writer.write(out);
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        return bytes.toByteArray();
    }

    private static <T> T read(byte[] bytes, Reader<T> reader) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            T value = reader.read(in);
            if (in.available() > 0) {
                throw new IOException("it goes on behind its end");
            }
            return value;
        } catch (IOException e) {
            throw new IllegalStateException("What a table holds cannot be read: " + e.getMessage(), e);
        }
    }
}
