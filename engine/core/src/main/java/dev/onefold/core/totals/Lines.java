package dev.onefold.core.totals;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The lines of an answer, off the Java heap: each [Answer.Line] is made when it is read. Not changed once
/// filled; freed once closed. Not thread-safe.
///
///     line    = a leaf of the group 4, number of the group's levels 4, cell as in [Cells], then per measure that is
///               made of values 24: an extreme's high 8, low 8, 1 if there is one 8; or a distinct count 8, zero 16
public final class Lines extends AbstractList<Answer.Line> implements AutoCloseable {
    private static final int BLOCK_BYTES = 1 << 18;
    private static final int CELL_AT = 8;
    private static final int VALUE_BYTES = 24;

    private final Leaves.Asked asked;
    private final Rollup rollup;
    private final Figures figures;
    private final Groups groups;
    private final int stride;
    private final int[] valued;
    private final LongConsumer account;
    private final int lineBytes;
    private final int blockLines;
    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> blocks = new ArrayList<>();
    private int count;
    private int @Nullable [] kept; // Of a top list.
    private boolean closed;

    Lines(Leaves leaves, Leaves.Asked asked, LongConsumer account) {
        this.asked = asked;
        rollup = leaves.rollup;
        figures = new Figures(rollup);
        groups = leaves.groups;
        stride = leaves.stride;
        valued = valued(rollup);
        this.account = account;
        lineBytes = (int) bytesOfLine(leaves);
        blockLines = Math.max(1, BLOCK_BYTES / lineBytes);
    }

    private static int[] valued(Rollup rollup) {
        List<Measure> measures = rollup.measures();
        return java.util.stream.IntStream.range(0, measures.size())
                .filter(i -> switch (measures.get(i)) {
                    case Measure.Count _ -> false;
                    case Measure.Distinct _ -> true;
                    case Measure.Numeric numeric -> !numeric.fold().isSummed();
                })
                .toArray();
    }

    static long bytesOfLine(Leaves leaves) {
        return CELL_AT + 8L * leaves.stride + (long) VALUE_BYTES * valued(leaves.rollup).length;
    }

    /// The measures that are made of values, by their index in the roll-up.
    int[] valuedMeasures() {
        return valued;
    }

    private MemorySegment block(long line) {
        return blocks.get((int) (line / blockLines));
    }

    private long at(long line) {
        return line % blockLines * lineBytes;
    }

    /// Adds a line for the first levels of a leaf; its number.
    long add(int leaf, int levels) {
        if (count == blocks.size() * blockLines) {
            account.accept((long) blockLines * lineBytes);
            blocks.add(arena.allocate((long) blockLines * lineBytes, 8));
        }
        int line = count++;
        block(line).set(ValueLayout.JAVA_INT, at(line), leaf);
        block(line).set(ValueLayout.JAVA_INT, at(line) + 4, levels);
        return line;
    }

    void set(long line, long[] cell, @Nullable BigInteger[] extremes, long[] distinct) {
        MemorySegment block = block(line);
        long next = at(line) + CELL_AT;
        MemorySegment.copy(cell, 0, block, ValueLayout.JAVA_LONG, next, cell.length);
        next += 8L * cell.length;
        for (int i = 0; i < valued.length; i++) {
            BigInteger extreme = extremes[i];
            block.set(
                    ValueLayout.JAVA_LONG,
                    next,
                    extreme == null ? distinct[i] : extreme.shiftRight(64).longValue());
            block.set(ValueLayout.JAVA_LONG, next + 8, extreme == null ? 0 : extreme.longValue());
            block.set(ValueLayout.JAVA_LONG, next + 16, extreme == null ? 0 : 1);
            next += VALUE_BYTES;
        }
    }

    /// A line, and the figure that it ranks by.
    private record Ranking(@Nullable BigDecimal figure, int line) {
        static final Comparator<Ranking> GREATEST_FIRST = Comparator.comparing(
                        Ranking::figure, Comparator.nullsLast(Comparator.<BigDecimal>reverseOrder()))
                .thenComparingInt(Ranking::line);
    }

    /// The lines of a top list, greatest first; `null` if all lines are seen, in their order.
    private int @Nullable [] kept() {
        if (asked.figure() >= 0 && kept == null) {
            PriorityQueue<Ranking> least = new PriorityQueue<>(Ranking.GREATEST_FIRST.reversed());
            for (int line = 0; line < count; line++) {
                int each = line;
                least.add(new Ranking(figures.value(asked.figure(), measure -> value(each, measure)), line));
                if (least.size() > asked.linesMax()) {
                    least.remove();
                }
            }
            kept = least.stream()
                    .sorted(Ranking.GREATEST_FIRST)
                    .mapToInt(Ranking::line)
                    .toArray();
        }
        return kept;
    }

    private @Nullable BigDecimal value(int line, int measure) {
        MemorySegment block = block(line);
        long cell = at(line) + CELL_AT;
        long next = cell + 8;
        long nextValued = cell + 8L * stride;
        for (int i = 0; i < measure; i++) {
            switch (rollup.measures().get(i)) {
                case Measure.Count _ -> {}
                case Measure.Numeric numeric when numeric.fold().isSummed() -> next += 24;
                case Measure.Numeric _, Measure.Distinct _ -> nextValued += VALUE_BYTES;
            }
        }
        Measure asked = rollup.measures().get(measure);
        long rows = block.get(ValueLayout.JAVA_LONG, cell);
        return (switch (asked) {
                    case Measure.Count _ -> new Aggregate.Parts(rows, BigInteger.ZERO, 0, null);
                    case Measure.Distinct _ ->
                        new Aggregate.Parts(rows, BigInteger.ZERO, block.get(ValueLayout.JAVA_LONG, nextValued), null);
                    case Measure.Numeric numeric
                    when numeric.fold().isSummed() ->
                        new Aggregate.Parts(
                                rows, integer(block, next), block.get(ValueLayout.JAVA_LONG, next + 16), null);
                    case Measure.Numeric _ ->
                        new Aggregate.Parts(
                                rows,
                                BigInteger.ZERO,
                                0,
                                block.get(ValueLayout.JAVA_LONG, nextValued + 16) == 0
                                        ? null
                                        : integer(block, nextValued));
                })
                .answer(asked);
    }

    private static BigInteger integer(MemorySegment block, long at) {
        return Cells.integer(block.get(ValueLayout.JAVA_LONG, at), block.get(ValueLayout.JAVA_LONG, at + 8));
    }

    @Override
    public Answer.Line get(int index) {
        int[] some = kept();
        int line = some == null ? java.util.Objects.checkIndex(index, count) : some[index];
        int leaf = block(line).get(ValueLayout.JAVA_INT, at(line));
        int levels = block(line).get(ValueLayout.JAVA_INT, at(line) + 4);
        List<@Nullable BigDecimal> values = new ArrayList<>(rollup.measures().size());
        for (int measure = 0; measure < rollup.measures().size(); measure++) {
            values.add(value(line, measure));
        }
        Tuple group = levels == 0 ? Tuple.of(List.of()) : groups.tuple(leaf).prefix(levels);
        return new Answer.Line(group.parts(), figures.of(values));
    }

    @Override
    public int size() {
        int[] some = kept();
        return some == null ? count : some.length;
    }

    /// Frees the memory.
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            arena.close();
        }
    }
}
