package dev.onefold.embedded.checkpoint;

import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FramedLog;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Payload;
import dev.onefold.embedded.disk.Scale;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The names of groups and the cells of all shards, on disk: logs `groups-N` of the changes between
/// checkpoints; they are read in order, and the last entry of a cell counts.
///
/// The logs are shortened without ever writing all at once: a new log is begun when the newest has grown
/// large, and each checkpoint then writes some further groups again, changed or not. When all have been
/// written, the older logs hold nothing that is not in the new one, and are deleted.
///
///     frame    = entries of one checkpoint
///     group    = 1, roll-up 2, number 4, length 4, tuple
///     cell     = 2, shard 2, roll-up 2, group 4, longs of the cell
///     value    = 3, roll-up 2, length 2, key as in [Values], count 8
///     forget   = 4: all cells before it are zero, because the shards are other ones now
public final class GroupLogs implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFGRPS", 3);
    private static final byte GROUP = 1;
    private static final byte CELL = 2;
    private static final byte VALUE = 3;
    private static final byte FORGET = 4;
    private static final int VALUE_BYTES = 32; // Bytes of an entry, about.
    private static final long LOG_BYTES_MAX = Scale.of(16 << 20);
    private static final int AGAIN_PER_CHECKPOINT = Scale.of(4_096);
    private static final int VALUES_AGAIN_PER_CHECKPOINT = Scale.of(65_536);

    private final Path directory;
    private final long identity;
    private final Groups[] groups;
    private final Values[] values; // Of each roll-up, as they are now.
    private final int[] named; // Groups of each roll-up whose name is in a log.
    private final List<Checkpoint.Log> older = new ArrayList<>();
    private @Nullable FramedLog newest;
    private long sequence;
    private long grown;
    private int againRollup;
    private int againFrom;
    private Values.@Nullable Place againValue = Values.Place.START;
    private boolean shortening;
    private boolean anew;
    private boolean hasStrangeCells;
    private final List<Map<Integer, Tuple>> ahead = new ArrayList<>();
    private long cutNumber;
    private long begun; // Number of a cut whose log exists already, because a full disk interrupted the writing.

    /// @param values of each roll-up; one may be replaced by another
    public GroupLogs(Path directory, long identity, Groups[] groups, Values[] values) {
        this.directory = directory;
        this.identity = identity;
        this.groups = groups;
        this.values = values;
        named = new int[groups.length];
        for (int rollup = 0; rollup < groups.length; rollup++) {
            ahead.add(new HashMap<>());
        }
    }

    private Path file(long number) {
        return directory.resolve("groups-" + number);
    }

    /// Reads the logs that a checkpoint names into groups and cells `[shard][roll-up]`.
    public void load(List<Checkpoint.Log> logs, Cells[][] cells) {
        for (Checkpoint.Log each : logs) {
            FramedLog log = FramedLog.open(file(each.sequence()), KIND, identity, each.length());
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
        for (Map<Integer, Tuple> names : ahead) {
            if (!names.isEmpty()) {
                throw Disk.corrupt(file(sequence), grown, "the names of groups before " + names.values() + " are gone");
            }
        }
        if (hasStrangeCells) {
            throw Disk.corrupt(file(sequence), grown, "the logs have cells of shards that there are none of");
        }
        shortening = !older.isEmpty(); // It is not known any more which groups were written again: begin again.
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
                    Tuple tuple = new Tuple(Payload.bytes(in));
                    name(rollup, number, tuple);
                }
                case CELL -> {
                    int shard = in.readShort();
                    int rollup = in.readShort();
                    int leaf = in.readInt();
                    long[] cell = new long[cells[0][rollup].stride()];
                    for (int i = 0; i < cell.length; i++) {
                        cell[i] = in.readLong();
                    }
                    if (shard < cells.length) {
                        cells[shard][rollup].setCell(leaf, cell);
                    } else {
                        hasStrangeCells = true;
                    }
                }
                case VALUE -> {
                    Values rollup = values[in.readShort()];
                    int length = in.readUnsignedShort();
                    byte[] key = new byte[length + Values.PADDING];
                    in.readFully(key, 0, length);
                    rollup.set(key, length, in.readLong());
                }
                case FORGET -> forget(cells);
                default -> throw new IOException("unknown entry");
            }
        }
    }

    /// Writes the name of a group. While names are written again, new ones come between them, so those ahead
    /// wait.
    private void name(int rollup, int number, Tuple tuple) throws IOException {
        Groups known = groups[rollup];
        if (number > known.size()) {
            ahead.get(rollup).put(number, tuple);
            return;
        }
        if (known.number(tuple) != number) {
            throw new IOException("group " + tuple + " is not number " + number);
        }
        Tuple next = ahead.get(rollup).remove(known.size());
        while (next != null) {
            if (known.number(next) != known.size() - 1) {
                throw new IOException("group " + next + " has two numbers");
            }
            next = ahead.get(rollup).remove(known.size());
        }
    }

    /// Cells of shards that no longer exist must be forgotten further on.
    private void forget(Cells[][] cells) {
        for (Cells[] shard : cells) {
            for (int rollup = 0; rollup < groups.length; rollup++) {
                shard[rollup].clear();
            }
        }
        hasStrangeCells = false;
    }

    /// Begins a new log at the next cut and writes all cells into it: those of the logs have other shards
    /// now, or are wrong. A cut that is being written meanwhile goes into the log before.
    public void beginAnew() {
        shortening = false;
        anew = true;
    }

    /// The entries of groups and values that a checkpoint has to write.
    ///
    /// @param number of this cut: 1, 2, 3 …
    /// @param payload the entries
    /// @param fresh whether they begin a new log
    /// @param covered whether the older logs are no longer needed
    public record Cut(long number, byte[] payload, boolean fresh, boolean covered) {}

    /// Collects the changes in the cells `[shard][roll-up]` since the last cut. Nobody changes them
    /// meanwhile.
    public Cut cut(Cells[][] cells) {
        boolean fresh = newest == null || anew || grown > LOG_BYTES_MAX + VALUE_BYTES * valueCount() && !shortening;
        if (fresh) {
            shortening = true;
            againRollup = 0;
            againFrom = 0;
            againValue = Values.Place.START;
            grown = 0;
        }
        boolean[] covered = {false};
        byte[] payload = Payload.of(1 << 12, out -> {
            if (anew) { // All cells are marked as changed; names and values are written again as ever.
                out.writeByte(FORGET);
                anew = false;
            }
            covered[0] = shortening && writeAgain(out, cells);
            for (int rollup = 0; rollup < groups.length; rollup++) {
                int size = groups[rollup].size();
                for (int number = named[rollup]; number < size; number++) {
                    writeGroup(out, rollup, number, groups[rollup].tuple(number));
                }
                named[rollup] = size;
                values[rollup].writeChanged(new Entries(out, 0, rollup));
            }
            for (int shard = 0; shard < cells.length; shard++) {
                for (int rollup = 0; rollup < groups.length; rollup++) {
                    cells[shard][rollup].writeDirty(new Entries(out, shard, rollup));
                }
            }
        });
        grown += payload.length;
        return new Cut(++cutNumber, payload, fresh, covered[0]);
    }

    private long valueCount() {
        return Arrays.stream(values).mapToLong(Values::count).sum();
    }

    /// Writes some further groups and values again; returns whether all have been written by now.
    private boolean writeAgain(DataOutputStream out, Cells[][] cells) throws IOException {
        int left = AGAIN_PER_CHECKPOINT;
        int valuesLeft = VALUES_AGAIN_PER_CHECKPOINT;
        while (againRollup < groups.length && left > 0) {
            int size = named[againRollup];
            int to = Math.min(size, againFrom + left);
            for (int number = againFrom; number < to; number++) {
                writeGroup(out, againRollup, number, groups[againRollup].tuple(number));
            }
            for (Cells[] shard : cells) {
                shard[againRollup].touch(againFrom, to);
            }
            left -= to - againFrom;
            againFrom = to;
            if (to == size && againValue != null) {
                Entries entries = new Entries(out, 0, againRollup);
                againValue = values[againRollup].write(againValue, valuesLeft, entries);
                valuesLeft = againValue == null ? valuesLeft : 0;
            }
            if (to == size && againValue == null) {
                againRollup++;
                againFrom = 0;
                againValue = Values.Place.START;
            } else if (to == size) {
                break;
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
        Payload.write(out, tuple.bytes());
    }

    private record Entries(DataOutputStream out, int shard, int rollup) implements Cells.Sink, Values.Visitor {
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
        public void value(byte[] key, int length, long count) {
            try {
                out.writeByte(VALUE);
                out.writeShort(rollup);
                out.writeShort(length);
                out.write(key, 0, length);
                out.writeLong(count);
            } catch (IOException e) {
                throw new IllegalStateException("Writing into memory failed", e);
            }
        }
    }

    /// Writes a cut and forces it; returns the logs that the checkpoint must name. Tried again after a full
    /// disk with the same cut.
    public List<Checkpoint.Log> write(Cut cut) throws OutOfSpaceException {
        if (cut.fresh && cut.number != begun) {
            FramedLog fresh = FramedLog.create(file(sequence + 1), KIND, identity);
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
