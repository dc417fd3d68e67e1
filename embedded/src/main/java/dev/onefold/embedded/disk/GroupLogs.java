package dev.onefold.embedded.disk;

import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The names of groups and the cells of all shards, on disk: logs `groups-N` of what changed between checkpoints;
/// read in order, the last word on a cell counts.
///
/// The logs are shortened without ever writing all at once: a new log is begun when the newest has grown large, and
/// each checkpoint then writes some further groups again, changed or not. When all have been, the older logs hold
/// nothing that is not in the new one, and are let go.
///
///     frame    = entries of one checkpoint
///     group    = 1, roll-up 2, number 4, length 4, tuple
///     cell     = 2, shard 2, roll-up 2, group 4, longs of the cell
///     value    = 3, shard 2, roll-up 2, group 4, measure 2, kind 1 (1 text, 2 integer), length 4, bytes, count 8
public final class GroupLogs implements AutoCloseable {
    private static final String MAGIC = "ONEFGRPS";
    private static final byte GROUP = 1;
    private static final byte CELL = 2;
    private static final byte VALUE = 3;
    private static final byte TEXT = 1;
    private static final byte INTEGER = 2;
    private static final long LOG_BYTES_MAX = Scale.of(16 << 20);
    private static final int AGAIN_PER_CHECKPOINT = Scale.of(4_096);

    private final Path directory;
    private final Groups[] groups;
    private final int[] named; // Groups of each roll-up whose name is in a log.
    private final List<Checkpoint.Log> older = new ArrayList<>();
    private @Nullable FramedLog newest;
    private long sequence;
    private long grown;
    private int againRollup;
    private int againFrom;
    private boolean shortening;
    private boolean anew;
    private long cutNumber;
    private long begun; // Number of a cut whose log exists already, because a full disk interrupted the writing.

    public GroupLogs(Path directory, Groups[] groups) {
        this.directory = directory;
        this.groups = groups;
        named = new int[groups.length];
    }

    private Path file(long number) {
        return directory.resolve("groups-" + number);
    }

    /// Reads the logs that a checkpoint names into groups and cells `[shard][roll-up]`.
    public void load(List<Checkpoint.Log> logs, Cells[][] cells) {
        for (Checkpoint.Log each : logs) {
            FramedLog log = FramedLog.open(file(each.sequence()), MAGIC, each.length());
            log.forEach((at, payload) -> {
                try {
                    read(new DataInputStream(new ByteArrayInputStream(payload)), cells);
                } catch (IOException | IndexOutOfBoundsException e) {
                    throw Disk.corrupt(log.file(), at, "an entry cannot be read: " + e.getMessage());
                }
            });
            sequence = each.sequence();
            grown = each.length();
            if (each.sequence() == logs.getLast().sequence()) {
                newest = log;
            } else {
                log.close();
                older.add(each);
            }
        }
        shortening = !older.isEmpty(); // Which groups were written again is not known any more: begin again.
        for (int rollup = 0; rollup < groups.length; rollup++) {
            named[rollup] = groups[rollup].size();
        }
    }

    private void read(DataInputStream in, Cells[][] cells) throws IOException {
        while (in.available() > 0) {
            switch (in.readByte()) {
                case GROUP -> {
                    int rollup = in.readShort();
                    int number = in.readInt();
                    Tuple tuple = new Tuple(bytes(in));
                    if (groups[rollup].number(tuple) != number) {
                        throw new IOException("group " + tuple + " is not number " + number);
                    }
                }
                case CELL -> {
                    Cells shard = cells[in.readShort()][in.readShort()];
                    int leaf = in.readInt();
                    long[] cell = new long[shard.stride()];
                    for (int i = 0; i < cell.length; i++) {
                        cell[i] = in.readLong();
                    }
                    shard.setCell(leaf, cell);
                }
                case VALUE -> {
                    Cells shard = cells[in.readShort()][in.readShort()];
                    int leaf = in.readInt();
                    int valued = in.readShort();
                    Object value = in.readByte() == TEXT
                            ? new String(bytes(in), StandardCharsets.UTF_8)
                            : new BigInteger(bytes(in));
                    shard.setValue(leaf, valued, value, in.readLong());
                }
                default -> throw new IOException("unknown entry");
            }
        }
    }

    /// Begins a new log at the next cut and writes everything into it: the cells of the logs have other shards now.
    public void beginAnew() {
        FramedLog last = newest;
        if (last != null) {
            older.add(new Checkpoint.Log(sequence, last.length()));
            last.close();
            newest = null;
        }
        java.util.Arrays.fill(named, 0);
        shortening = false;
        anew = true;
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    /// What a checkpoint has to write.
    ///
    /// @param number 1, 2, 3 …
    /// @param payload the entries
    /// @param fresh whether they begin a new log
    /// @param covered whether the older logs hold nothing any more
    public record Cut(long number, byte[] payload, boolean fresh, boolean covered) {}

    /// Collects what changed in the cells `[shard][roll-up]` since the last cut. Nobody changes them meanwhile.
    public Cut cut(Cells[][] cells) {
        if (anew) { // All cells are marked as changed, all names are to be written: nothing is left for later.
            shortening = true;
        }
        boolean fresh = newest == null || grown > LOG_BYTES_MAX && !shortening;
        if (fresh) {
            shortening = true;
            againRollup = 0;
            againFrom = 0;
            grown = 0;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 12);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            boolean covered = shortening && writeAgain(out, cells, newest == null);
            anew = false;
            for (int rollup = 0; rollup < groups.length; rollup++) {
                int number = named[rollup];
                for (Tuple tuple : groups[rollup].from(number)) {
                    writeGroup(out, rollup, number++, tuple);
                }
                named[rollup] = number;
            }
            for (int shard = 0; shard < cells.length; shard++) {
                for (int rollup = 0; rollup < groups.length; rollup++) {
                    cells[shard][rollup].writeDirty(new Entries(out, shard, rollup));
                }
            }
            grown += bytes.size();
            return new Cut(++cutNumber, bytes.toByteArray(), fresh, covered);
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
    }

    /// Marks some further groups as changed; whether all have been by now.
    private boolean writeAgain(DataOutputStream out, Cells[][] cells, boolean nothingYet) throws IOException {
        int left = AGAIN_PER_CHECKPOINT;
        while (againRollup < groups.length && left > 0) {
            int size = nothingYet ? 0 : named[againRollup];
            int to = Math.min(size, againFrom + left);
            for (int number = againFrom; number < to; number++) {
                writeGroup(out, againRollup, number, groups[againRollup].tuple(number));
            }
            for (Cells[] shard : cells) {
                shard[againRollup].touch(againFrom, to);
            }
            left -= to - againFrom;
            againFrom = to;
            if (to == size) {
                againRollup++;
                againFrom = 0;
            }
        }
        if (againRollup < groups.length) {
            return false;
        }
        shortening = false;
        return true;
    }

    private static void writeGroup(DataOutputStream out, int rollup, int number, Tuple tuple) throws IOException {
        out.writeByte(GROUP);
        out.writeShort(rollup);
        out.writeInt(number);
        out.writeInt(tuple.bytes().length);
        out.write(tuple.bytes());
    }

    private record Entries(DataOutputStream out, int shard, int rollup) implements Cells.Sink {
        @Override
        public void cell(int leaf, long[] cell, int from, int length) {
            try {
                out.writeByte(CELL);
                out.writeShort(shard);
                out.writeShort(rollup);
                out.writeInt(leaf);
                for (int i = from; i < from + length; i++) {
                    out.writeLong(cell[i]);
                }
            } catch (IOException e) {
                throw new IllegalStateException("Writing into memory failed", e);
            }
        }

        @Override
        public void value(int leaf, int valued, Object value, long count) {
            byte[] bytes = value instanceof BigInteger integer
                    ? integer.toByteArray()
                    : value.toString().getBytes(StandardCharsets.UTF_8);
            try {
                out.writeByte(VALUE);
                out.writeShort(shard);
                out.writeShort(rollup);
                out.writeInt(leaf);
                out.writeShort(valued);
                out.writeByte(value instanceof BigInteger ? INTEGER : TEXT);
                out.writeInt(bytes.length);
                out.write(bytes);
                out.writeLong(count);
            } catch (IOException e) {
                throw new IllegalStateException("Writing into memory failed", e);
            }
        }
    }

    /// Writes a cut and forces it; the logs that the checkpoint shall name. Tried again after a full disk with the
    /// same cut.
    public List<Checkpoint.Log> write(Cut cut) throws OutOfSpaceException {
        if (cut.fresh && cut.number != begun) {
            FramedLog fresh = FramedLog.create(file(sequence + 1), MAGIC);
            if (newest != null) {
                older.add(new Checkpoint.Log(sequence, newest.length()));
                newest.close();
            }
            newest = fresh;
            sequence++;
            begun = cut.number;
        }
        FramedLog log = java.util.Objects.requireNonNull(newest);
        if (cut.payload.length > 0) {
            log.append(cut.payload, cut.payload.length);
        }
        log.force();
        List<Checkpoint.Log> logs = new ArrayList<>(cut.covered ? List.of() : older);
        logs.add(new Checkpoint.Log(sequence, log.length()));
        return logs;
    }

    /// Deletes the logs that a durable checkpoint does not name any more.
    public void release(Cut cut) {
        if (cut.covered) {
            older.forEach(log -> Disk.delete(file(log.sequence())));
            older.clear();
        }
    }

    @Override
    public void close() {
        if (newest != null) {
            newest.close();
        }
    }
}
