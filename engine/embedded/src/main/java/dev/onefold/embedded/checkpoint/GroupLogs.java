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
import java.util.BitSet;
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
///     ended    = 5, roll-up 2, count 4, numbers 4 each: these have no name and zero cells from now on
public final class GroupLogs implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFGRPS", 3);
    private static final byte GROUP = 1;
    private static final byte CELL = 2;
    private static final byte VALUE = 3;
    private static final byte FORGET = 4;
    private static final byte ENDED = 5;
    private static final Tuple NO_NAME = new Tuple(new byte[1]); // No group has it: a part of a tuple ends with 00 01.
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
    private boolean rewriting;
    private boolean hasStrangeCells;
    private boolean hasEnded; // Numbers without a name were read.
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
        requireNames(cells);
        shortening = !older.isEmpty(); // It is not known any more which groups were written again: begin again.
        for (int rollup = 0; rollup < groups.length; rollup++) {
            named[rollup] = groups[rollup].size();
            groups[rollup].takeRenamed();
        }
    }

    /// A group that nobody can name would be missing in each answer, and no comparison would see it.
    private void requireNames(Cells[][] cells) {
        for (int rollup = 0; rollup < groups.length; rollup++) {
            for (int number = 0; hasEnded && number < groups[rollup].size(); number++) {
                if (groups[rollup].has(number)) {
                    continue;
                }
                long[] cell = new long[cells[0][rollup].stride()];
                for (Cells[] shard : cells) {
                    shard[rollup].addTo(cell, number);
                }
                if (Arrays.stream(cell).anyMatch(each -> each != 0)) {
                    throw Disk.corrupt(file(sequence), grown, "group " + number + " has rows and no name");
                }
            }
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
                case ENDED -> {
                    int rollup = in.readShort();
                    BitSet ended = new BitSet();
                    for (int count = in.readInt(); count > 0; count--) {
                        ended.set(in.readInt());
                    }
                    end(rollup, ended, cells);
                }
                default -> throw new IOException("unknown entry");
            }
        }
    }

    /// Takes the name of a group. While names are written again, new ones come between them, so those ahead
    /// wait.
    private void name(int rollup, int number, Tuple tuple) throws IOException {
        Groups known = groups[rollup];
        if (number > known.size()) {
            ahead.get(rollup).put(number, tuple);
            return;
        }
        Tuple next = tuple;
        for (int at = number; next != null; next = ahead.get(rollup).remove(at)) {
            if (at == known.size()) {
                known.skip();
            }
            if (!next.equals(NO_NAME) && !known.name(at, next)) {
                throw new IOException("group " + next + " is not number " + at + ", or has two numbers");
            }
            at = known.size();
        }
    }

    private void end(int rollup, BitSet ended, Cells[][] cells) throws IOException {
        hasEnded = true;
        BitSet inNames = ended.get(0, groups[rollup].size());
        for (int number = inNames.nextSetBit(0); number >= 0; number = inNames.nextSetBit(number + 1)) {
            inNames.set(number, groups[rollup].has(number));
        }
        if (!inNames.isEmpty()) { // A copy costs as much as all names, and these come in many entries.
            groups[rollup] = groups[rollup].without(inNames);
        }
        for (Cells[] shard : cells) {
            shard[rollup].empty(ended);
        }
        for (int number = ended.nextSetBit(0); number >= 0; number = ended.nextSetBit(number + 1)) {
            if (number >= groups[rollup].size()) {
                name(rollup, number, NO_NAME);
            }
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
        rewriting = true;
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
        boolean fresh =
                newest == null || rewriting || grown > LOG_BYTES_MAX + VALUE_BYTES * valueCount() && !shortening;
        if (fresh) {
            shortening = true;
            againRollup = 0;
            againFrom = 0;
            againValue = Values.Place.START;
            grown = 0;
        }
        boolean[] covered = {false};
        byte[] payload = Payload.of(1 << 12, out -> {
            if (rewriting) { // All cells are marked as changed; names and values are written again as ever.
                out.writeByte(FORGET);
                rewriting = false;
            }
            BitSet[] renamed = new BitSet[groups.length];
            for (int rollup = 0; rollup < groups.length; rollup++) {
                Groups.Renamed since = groups[rollup].takeRenamed();
                renamed[rollup] = since.named();
                writeEnded(out, rollup, since.emptied());
            }
            covered[0] = shortening && writeAgain(out, cells);
            for (int rollup = 0; rollup < groups.length; rollup++) {
                int size = groups[rollup].size();
                renamed[rollup].set(named[rollup], size);
                writeGroups(out, rollup, renamed[rollup]);
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
            BitSet again = new BitSet();
            again.set(againFrom, to);
            writeGroups(out, againRollup, again);
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

    private void writeGroups(DataOutputStream out, int rollup, BitSet numbers) throws IOException {
        BitSet withoutName = new BitSet();
        for (int number = numbers.nextSetBit(0); number >= 0; number = numbers.nextSetBit(number + 1)) {
            if (groups[rollup].has(number)) {
                out.writeByte(GROUP);
                out.writeShort(rollup);
                out.writeInt(number);
                Payload.write(out, groups[rollup].tuple(number).bytes());
            } else {
                withoutName.set(number);
            }
        }
        writeEnded(out, rollup, withoutName);
    }

    private static void writeEnded(DataOutputStream out, int rollup, BitSet numbers) throws IOException {
        if (!numbers.isEmpty()) {
            out.writeByte(ENDED);
            out.writeShort(rollup);
            out.writeInt(numbers.cardinality());
            for (int number = numbers.nextSetBit(0); number >= 0; number = numbers.nextSetBit(number + 1)) {
                out.writeInt(number);
            }
        }
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
