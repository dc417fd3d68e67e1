package dev.onefold.core.aggregate;

import dev.onefold.core.map.Amounts;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One shard's part of all leaf groups of one roll-up. Only leaves are kept; a parent is the sum of its leaves,
/// made when read, so that in no answer can it be anything else. Sums are kept in 128 bits, which 10^10 values
/// of 28 digits cannot overflow, in flat arrays: adding a row touches one line of memory. Not thread-safe.
///
///     cell = rows, then per summed measure: sum hi, sum lo, count of values
public final class Cells {
    private static final int CHUNK_BITS = 10;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final int rollup;
    private final int[] summedInputs;
    private final int[] valuedInputs;
    private final boolean[] valuedTexts;
    private final Values values;
    private final byte[] key = new byte[Values.KEY_BYTES_MAX + Values.PADDING];
    private final int stride;
    private long[][] chunks = new long[0][];
    private final BitSet dirty = new BitSet();
    private @Nullable BitSet moved; // Beside those that are dirty; null while nobody takes them.

    /// @param values of the same roll-up; other shards have the same ones
    public Cells(Pipeline pipeline, int rollup, Values values) {
        this.rollup = rollup;
        this.values = values;
        Rollups rollups = Rollups.of(pipeline);
        List<Measure.Input> inputs = rollups.inputs();
        List<Integer> summed = new ArrayList<>();
        List<Integer> valued = new ArrayList<>();
        for (Measure measure : rollups.all().get(rollup).measures()) {
            switch (measure) {
                case Measure.Count _ -> {}
                case Measure.Distinct distinct -> valued.add(inputs.indexOf(distinct.input()));
                case Measure.Numeric numeric ->
                    (numeric.fold().isSummed() ? summed : valued).add(inputs.indexOf(numeric.input()));
            }
        }
        summedInputs = summed.stream().mapToInt(Integer::intValue).toArray();
        valuedInputs = valued.stream().mapToInt(Integer::intValue).toArray();
        valuedTexts = new boolean[valuedInputs.length];
        for (int i = 0; i < valuedTexts.length; i++) {
            valuedTexts[i] = inputs.get(valuedInputs[i]) instanceof Measure.Input.Text;
        }
        stride = 1 + 3 * summedInputs.length;
    }

    /// Retracts the old contribution of a row and adds its new one, in one step.
    public void move(Amounts before, Amounts after) {
        if (before.counted) {
            add(before, -1);
        }
        if (after.counted) {
            add(after, 1);
        }
    }

    private void add(Amounts amounts, int sign) {
        int leaf = amounts.group[rollup];
        long[] chunk = chunk(leaf);
        int at = (leaf & CHUNK - 1) * stride;
        dirty.set(leaf);
        chunk[at++] += sign;
        for (int input : summedInputs) {
            if (amounts.present[input]) {
                long lo = amounts.lo[input];
                long hi = amounts.hi[input];
                if (sign == -1) {
                    hi = ~hi + (lo == 0 ? 1 : 0);
                    lo = -lo;
                }
                long sum = chunk[at + 1] + lo;
                long carry = Long.compareUnsigned(sum, lo) < 0 ? 1 : 0;
                chunk[at + 1] = sum;
                chunk[at] += hi + carry;
                chunk[at + 2] += sign;
            }
            at += 3;
        }
        for (int i = 0; i < valuedInputs.length; i++) {
            int input = valuedInputs[i];
            if (amounts.present[input]) {
                Values.putPlace(leaf, i, key);
                int length = valuedTexts[i]
                        ? putText(java.util.Objects.requireNonNull(amounts.text[input]))
                        : Values.putNumber(amounts.hi[input], amounts.lo[input], key);
                values.add(key, length, sign);
            }
        }
    }

    private int putText(byte[] text) {
        System.arraycopy(text, 0, key, Values.VALUE_AT, text.length);
        return Values.VALUE_AT + text.length;
    }

    private long[] chunk(int leaf) {
        int index = leaf >>> CHUNK_BITS;
        if (index >= chunks.length) {
            int old = chunks.length;
            chunks = Arrays.copyOf(chunks, Math.max(index + 1, old + old / 2));
            for (int i = old; i < chunks.length; i++) {
                chunks[i] = new long[0];
            }
        }
        if (chunks[index].length == 0) {
            chunks[index] = new long[CHUNK * stride];
        }
        return chunks[index];
    }

    /// A number of 128 bits.
    public static BigInteger integer(long hi, long lo) {
        if (hi == lo >> 63) {
            return BigInteger.valueOf(lo);
        }
        return BigInteger.valueOf(hi)
                .shiftLeft(64)
                .or(BigInteger.valueOf(lo).and(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE)));
    }

    /// Adds this shard's part of a leaf to a cell of the same layout.
    public void addTo(long[] cell, int leaf) {
        int index = leaf >>> CHUNK_BITS;
        if (index < chunks.length && chunks[index].length > 0) {
            add(chunks[index], (leaf & CHUNK - 1) * stride, cell, 0, stride);
        }
    }

    /// Adds a cell of `length` longs to another one.
    public static void add(long[] from, int fromAt, long[] to, int toAt, int length) {
        to[toAt] += from[fromAt];
        for (int i = 1; i < length; i += 3) {
            long lo = from[fromAt + i + 1];
            long sum = to[toAt + i + 1] + lo;
            long carry = Long.compareUnsigned(sum, lo) < 0 ? 1 : 0;
            to[toAt + i] += from[fromAt + i] + carry;
            to[toAt + i + 1] = sum;
            to[toAt + i + 2] += from[fromAt + i + 2];
        }
    }

    /// Bytes of heap that the cells of this number of leaves take.
    public long bytesOf(long leaves) {
        return (leaves + CHUNK - 1) / CHUNK * CHUNK * stride * Long.BYTES;
    }

    /// Receives the cells that a checkpoint writes; a start reads them again.
    public interface Sink {
        /// A leaf's rows and, per summed measure, its sum in `hi` and `lo` and its count of values.
        void cell(int leaf, long[] cell, int from, int length);
    }

    /// How many leaves have changed since they were last written.
    public int dirtyCount() {
        return dirty.cardinality();
    }

    /// Writes the cells that have changed since the last call.
    public void writeDirty(Sink sink) {
        for (int leaf = dirty.nextSetBit(0); leaf >= 0; leaf = dirty.nextSetBit(leaf + 1)) {
            sink.cell(leaf, chunk(leaf), (leaf & CHUNK - 1) * stride, stride);
        }
        if (moved != null) {
            moved.or(dirty);
        }
        dirty.clear();
    }

    /// Whether leaves may have changed since they were last taken.
    public boolean hasMoved() {
        return moved == null || !moved.isEmpty() || !dirty.isEmpty();
    }

    /// Takes the leaves that may have changed since the last call; `null` if any may have: at the first
    /// call, and after all were emptied. A change that no checkpoint has written is given again, so that moving
    /// amounts costs nothing more.
    public @Nullable BitSet takeMoved() {
        BitSet taken = moved;
        moved = new BitSet();
        if (taken != null) {
            taken.or(dirty);
        }
        return taken;
    }

    /// Marks leaves as changed, so that they are written again: a log of changes is shortened that way.
    public void touch(int leafFrom, int leafTo) {
        for (int leaf = leafFrom; leaf < leafTo; leaf++) {
            int index = leaf >>> CHUNK_BITS;
            if (index < chunks.length && chunks[index].length > 0) {
                dirty.set(leaf);
            }
        }
    }

    /// Marks all leaves as changed.
    public void touchAll() {
        touch(0, chunks.length << CHUNK_BITS);
    }

    /// Empties all; nothing is marked as changed.
    public void clear() {
        chunks = new long[0][];
        dirty.clear();
        moved = null;
    }

    /// Empties leaves; they are not marked as changed.
    public void empty(BitSet leaves) {
        for (int leaf = leaves.nextSetBit(0); leaf >= 0; leaf = leaves.nextSetBit(leaf + 1)) {
            Arrays.fill(chunk(leaf), (leaf & CHUNK - 1) * stride, ((leaf & CHUNK - 1) + 1) * stride, 0);
        }
        dirty.andNot(leaves);
    }

    /// Sets a leaf as it was written; nothing is marked as changed.
    public void setCell(int leaf, long[] cell) {
        System.arraycopy(cell, 0, chunk(leaf), (leaf & CHUNK - 1) * stride, stride);
    }

    /// Adds all of another shard's cells of the same roll-up, and marks them as changed: after the number of
    /// shards has changed, one shard inherits.
    public void addAll(Cells other, int leaves) {
        for (int leaf = 0; leaf < leaves; leaf++) {
            int index = leaf >>> CHUNK_BITS;
            if (index >= other.chunks.length || other.chunks[index].length == 0) {
                continue;
            }
            int at = (leaf & CHUNK - 1) * stride;
            long[] mine = chunk(leaf);
            long[] theirs = other.chunks[index];
            add(theirs, at, mine, at, stride);
            dirty.set(leaf);
        }
    }

    /// Whether nothing was ever added.
    public boolean isEmpty() {
        return Arrays.stream(chunks).allMatch(chunk -> chunk.length == 0);
    }

    /// Longs of one cell.
    public int stride() {
        return stride;
    }
}
