package dev.onefold.core.aggregate;

import dev.onefold.core.map.Amounts;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One shard's part of all leaf groups of one roll-up. Only leaves are kept; a parent is the sum of its leaves,
/// made when read, so that in no answer can it be anything else. Sums are kept in 128 bits, which 10^10 values of
/// 28 digits cannot overflow, in flat arrays: adding a row touches one line of memory. Owned by one thread.
///
///     cell = rows, then per summed measure: sum hi, sum lo, count of values
public final class Cells {
    private static final int CHUNK_BITS = 10;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final List<Measure> measures;
    private final int rollup;
    private final int[] summedInputs;
    private final int[] summedMeasures;
    private final int[] valuedInputs;
    private final int[] valuedMeasures;
    private final boolean[] valuedTexts;
    private final int stride;
    private long[][] chunks = new long[0][];
    /// Per leaf and valued measure, how often each value is there: extremes and distinct counts must survive
    /// retraction.
    private final List<@Nullable Map<Object, Long>[]> values = new ArrayList<>();
    private final BitSet dirty = new BitSet();
    private final Map<Integer, Map<Object, Boolean>[]> dirtyValues = new HashMap<>();

    public Cells(Pipeline pipeline, int rollup) {
        this.rollup = rollup;
        Rollup definition = pipeline.rollups().get(rollup);
        measures = definition.measures();
        List<Measure.Input> inputs = pipeline.inputs();
        List<int[]> summed = new ArrayList<>();
        List<int[]> valued = new ArrayList<>();
        for (int i = 0; i < measures.size(); i++) {
            switch (measures.get(i)) {
                case Measure.Count _ -> {}
                case Measure.Distinct distinct -> valued.add(new int[] {i, inputs.indexOf(distinct.input()), 1});
                case Measure.Numeric numeric -> {
                    int input = inputs.indexOf(numeric.input());
                    if (!numeric.fold().isSummed()) {
                        valued.add(new int[] {i, input, 0});
                    } else {
                        summed.add(new int[] {i, input});
                    }
                }
            }
        }
        summedMeasures = summed.stream().mapToInt(pair -> pair[0]).toArray();
        summedInputs = summed.stream().mapToInt(pair -> pair[1]).toArray();
        valuedMeasures = valued.stream().mapToInt(pair -> pair[0]).toArray();
        valuedInputs = valued.stream().mapToInt(pair -> pair[1]).toArray();
        valuedTexts = new boolean[valued.size()];
        for (int i = 0; i < valuedTexts.length; i++) {
            valuedTexts[i] = valued.get(i)[2] == 1;
        }
        stride = 1 + 3 * summedInputs.length;
    }

    /// Retracts what a row contributed and adds what it contributes now, in one step.
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
                if (sign < 0) {
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
                addValue(
                        leaf,
                        i,
                        valuedTexts[i]
                                ? java.util.Objects.requireNonNull(amounts.text[input])
                                : integer(amounts.hi[input], amounts.lo[input]),
                        sign);
            }
        }
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

    static BigInteger integer(long hi, long lo) {
        if (hi == lo >> 63) {
            return BigInteger.valueOf(lo);
        }
        return BigInteger.valueOf(hi)
                .shiftLeft(64)
                .or(BigInteger.valueOf(lo).and(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE)));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // There is no array of a generic type.
    private void addValue(int leaf, int valued, Object value, long count) {
        while (values.size() <= leaf) {
            values.add(null);
        }
        Map<Object, Long>[] maps = values.get(leaf);
        if (maps == null) {
            maps = new Map[valuedInputs.length];
            Arrays.setAll(maps, _ -> new HashMap<>());
            values.set(leaf, maps);
        }
        if (maps[valued].merge(value, count, Long::sum) == 0) {
            maps[valued].remove(value);
        }
        Map<Object, Boolean>[] touched = dirtyValues.computeIfAbsent(leaf, _ -> {
            Map<Object, Boolean>[] fresh = new Map[valuedInputs.length];
            Arrays.setAll(fresh, _ -> new HashMap<>());
            return fresh;
        });
        touched[valued].put(value, true);
    }

    /// Adds this shard's part of a leaf to an aggregate of the same roll-up.
    public void addTo(Aggregate aggregate, int leaf) {
        int index = leaf >>> CHUNK_BITS;
        if (index >= chunks.length || chunks[index].length == 0) {
            return;
        }
        long[] chunk = chunks[index];
        int at = (leaf & CHUNK - 1) * stride;
        aggregate.addRows(chunk[at++]);
        for (int measure : summedMeasures) {
            aggregate.addSum(measure, integer(chunk[at], chunk[at + 1]), chunk[at + 2]);
            at += 3;
        }
        Map<Object, Long>[] maps = leaf < values.size() ? values.get(leaf) : null;
        if (maps != null) {
            for (int i = 0; i < maps.length; i++) {
                int measure = valuedMeasures[i];
                maps[i].forEach((value, count) -> aggregate.addValue(measure, value, count));
            }
        }
    }

    /// An empty aggregate of this roll-up.
    public Aggregate aggregate() {
        return new Aggregate(measures);
    }

    /// What is written of the cells at a checkpoint, and read again at a start.
    public interface Sink {
        /// A leaf's rows and, per summed measure, its sum in `hi` and `lo` and its count of values.
        void cell(int leaf, long[] cell, int from, int length);

        /// How often a value is there in a leaf (zero: no more); an integer or a text.
        void value(int leaf, int valued, Object value, long count);
    }

    /// How many leaves have changed since they were last written.
    public int dirtyCount() {
        return dirty.cardinality();
    }

    /// Writes what has changed since the last call.
    public void writeDirty(Sink sink) {
        for (int leaf = dirty.nextSetBit(0); leaf >= 0; leaf = dirty.nextSetBit(leaf + 1)) {
            sink.cell(leaf, chunk(leaf), (leaf & CHUNK - 1) * stride, stride);
        }
        dirtyValues.forEach((leaf, maps) -> {
            Map<Object, Long>[] current = java.util.Objects.requireNonNull(values.get(leaf));
            for (int valued = 0; valued < maps.length; valued++) {
                for (Object value : maps[valued].keySet()) {
                    sink.value(leaf, valued, value, current[valued].getOrDefault(value, 0L));
                }
            }
        });
        dirty.clear();
        dirtyValues.clear();
    }

    /// Marks leaves as changed, so that they are written again: a log of changes is shortened that way.
    public void touch(int leafFrom, int leafTo) {
        for (int leaf = leafFrom; leaf < leafTo; leaf++) {
            int index = leaf >>> CHUNK_BITS;
            if (index < chunks.length && chunks[index].length > 0) {
                dirty.set(leaf);
            }
            Map<Object, Long>[] maps = leaf < values.size() ? values.get(leaf) : null;
            if (maps != null) {
                for (int valued = 0; valued < maps.length; valued++) {
                    for (Object value : List.copyOf(maps[valued].keySet())) {
                        addValue(leaf, valued, value, 0);
                    }
                }
            }
        }
    }

    /// Sets a leaf as it was written; nothing is marked as changed.
    public void setCell(int leaf, long[] cell) {
        System.arraycopy(cell, 0, chunk(leaf), (leaf & CHUNK - 1) * stride, stride);
    }

    /// Sets how often a value is there, as it was written.
    public void setValue(int leaf, int valued, Object value, long count) {
        addValue(leaf, valued, value, count);
        Map<Object, Long> map = java.util.Objects.requireNonNull(values.get(leaf))[valued];
        if (count == 0) {
            map.remove(value);
        } else {
            map.put(value, count);
        }
        dirtyValues.clear();
    }

    /// Adds all of another shard's cells of the same roll-up, and marks them as changed: after the number of shards
    /// has changed, one shard inherits.
    public void addAll(Cells other, int leaves) {
        for (int leaf = 0; leaf < leaves; leaf++) {
            int index = leaf >>> CHUNK_BITS;
            if (index >= other.chunks.length || other.chunks[index].length == 0) {
                continue;
            }
            int at = (leaf & CHUNK - 1) * stride;
            long[] mine = chunk(leaf);
            long[] theirs = other.chunks[index];
            mine[at] += theirs[at];
            for (int i = at + 1; i < at + stride; i += 3) {
                BigInteger sum = integer(mine[i], mine[i + 1]).add(integer(theirs[i], theirs[i + 1]));
                mine[i] = sum.shiftRight(64).longValue();
                mine[i + 1] = sum.longValue();
                mine[i + 2] += theirs[i + 2];
            }
            dirty.set(leaf);
            Map<Object, Long>[] maps = leaf < other.values.size() ? other.values.get(leaf) : null;
            for (int valued = 0; maps != null && valued < maps.length; valued++) {
                for (Map.Entry<Object, Long> entry : maps[valued].entrySet()) {
                    addValue(leaf, valued, entry.getKey(), entry.getValue());
                }
            }
        }
    }

    /// Longs of one cell.
    public int stride() {
        return stride;
    }
}
