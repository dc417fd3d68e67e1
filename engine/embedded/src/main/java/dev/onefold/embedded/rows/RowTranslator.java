package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/// Translates rows of one definition into rows of another that reads nothing else of a record: key, version
/// and place stay, groups and amounts are made again. Not thread-safe.
public final class RowTranslator {
    private static final int BATCH_ROWS = 10_000;

    private final RowReader reader;
    private final IntFunction<String> sourceName;
    private final Groups[] from;
    private final Groups[] to;
    private final Derivation.Possible derivation;
    private final boolean[] texts;
    private final TimeReader times;
    private final Amounts amounts;
    private final List<Map<List<Integer>, Integer>> known = new ArrayList<>();
    private final List<Map<Integer, Long>> starts = new ArrayList<>(); // Of the groups, by roll-up.
    private byte[] row = new byte[1 << 12];

    private final Consumer<Row> refused;

    /// The two definitions of a translation.
    ///
    /// @param sourceName the name of a source by its number
    /// @param nowMs the time of rows whose definition had none
    public record Translated(Pipeline from, Pipeline to, IntFunction<String> sourceName, long nowMs) {}

    private interface TimeReader {
        TimeReader NONE = (_, _, _) -> {};

        /// Adds the time of a row to the row that was translated.
        void add(Segment segment, long rowEnd, RowBatch batch);
    }

    /// A row has a time if ids are forgotten, and a mark if groups end. Of a row without one, now or the time
    /// of its groups is not below its mark.
    private TimeReader times(Translated pipelines) {
        Optional<Keep> keep = Keep.of(pipelines.to);
        if (Horizon.ofForgetting(pipelines.to).isPresent()
                || keep.isPresent() && Keep.of(pipelines.from).isPresent()) {
            return (segment, rowEnd, batch) -> batch.time(Rows.timeMs(segment, rowEnd));
        }
        return keep.<TimeReader>map(of -> (_, _, batch) -> batch.time(latestMs(of, pipelines.nowMs)))
                .orElse(TimeReader.NONE);
    }

    private long latestMs(Keep keep, long nowMs) {
        long latestMs = nowMs;
        for (int rollup = 0; amounts.counted && rollup < to.length; rollup++) {
            int each = rollup;
            latestMs = Math.max(
                    latestMs,
                    starts.get(rollup)
                            .computeIfAbsent(group(rollup), number -> keep.startMs(each, to[each].tuple(number))));
        }
        return latestMs;
    }

    /// @param refused takes the rows that the new definition refuses, as they were
    public RowTranslator(
            Translated pipelines, Groups[] from, Groups[] to, Derivation.Possible derivation, Consumer<Row> refused) {
        Pipeline oldPipeline = pipelines.from;
        times = times(pipelines);
        sourceName = pipelines.sourceName;
        this.refused = refused;
        this.from = from;
        this.to = to;
        this.derivation = derivation;
        reader = new RowReader(oldPipeline, from);
        texts = RowBatch.texts(oldPipeline);
        amounts = reader.amounts();
        for (int i = 0; i < to.length; i++) {
            known.add(new HashMap<>());
            starts.add(new HashMap<>());
        }
    }

    /// Translates all rows of a shard, some at a time; the same batch is given again and again.
    public void translate(Shard shard, Consumer<RowBatch> sink) {
        RowBatch batch = new RowBatch();
        shard.store().forEach((segment, rowStart, rowEnd) -> {
            int before = batch.count();
            translate(segment, rowStart, batch);
            if (batch.count() > before) {
                times.add(segment, rowEnd, batch);
            }
            if (batch.count() == BATCH_ROWS) {
                sink.accept(batch);
                batch.clear();
            }
        });
        sink.accept(batch);
    }

    private void translate(Segment segment, long rowStart, RowBatch batch) {
        long versionAt = RowReader.keyEnd(segment, rowStart);
        long kindAt = RowReader.kindAt(segment, RowReader.versionEnd(segment, versionAt));
        int keyLength = (int) (versionAt - rowStart);
        int head = (int) (kindAt + 1 - rowStart);
        reader.read(segment, kindAt, amounts);
        if (derivation.mayRefuse()
                && derivation.refusal(reader.contribution(segment, kindAt)).isPresent()) {
            refused.accept(reader.row(segment, rowStart, sourceName));
            return;
        }
        reserve(head + 32 * (to.length + derivation.inputs().size()));
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, rowStart, row, 0, head);
        long hash = Hash.of(row, 0, keyLength);
        int at = head;
        if (amounts.counted) {
            for (int rollup = 0; rollup < to.length; rollup++) {
                at = RowBatch.putVarint(group(rollup), row, at);
            }
            for (Derivation.Taken input : derivation.inputs()) {
                at = putInput(input, at);
            }
        }
        batch.add(hash, row, keyLength, at);
    }

    private void reserve(int bytes) {
        if (row.length < bytes + RowBatch.PADDING) {
            row = java.util.Arrays.copyOf(row, 2 * (bytes + RowBatch.PADDING));
        }
    }

    private int group(int rollup) {
        List<Derivation.Kept> levels = derivation.levels().get(rollup);
        List<Integer> key = new ArrayList<>();
        for (Derivation.Kept level : levels) {
            key.add(amounts.group[level.rollup()]);
        }
        return known.get(rollup).computeIfAbsent(key, _ -> {
            List<String> parts = new ArrayList<>();
            for (Derivation.Kept level : levels) {
                parts.add(from[level.rollup()]
                        .tuple(amounts.group[level.rollup()])
                        .parts()
                        .get(level.level()));
            }
            return to[rollup].number(Tuple.of(parts));
        });
    }

    private int putInput(Derivation.Taken taken, int at) {
        int input = taken.index();
        if (taken.isDeclaredAnew() && amounts.present[input]) {
            BigInteger unscaled = ((Amount.Number) taken.of(reader.amount(amounts, input)))
                    .value()
                    .unscaledValue();
            return RowBatch.putNumber(unscaled.shiftRight(64).longValue(), unscaled.longValue(), row, at);
        }
        if (!amounts.present[input]) {
            row[at] = 0;
            return at + 1;
        }
        if (!texts[input]) {
            return RowBatch.putNumber(amounts.hi[input], amounts.lo[input], row, at);
        }
        byte[] text = java.util.Objects.requireNonNull(amounts.text[input]);
        reserve(at + text.length + 8 + 32 * (to.length + derivation.inputs().size()));
        int next = RowBatch.putVarint(text.length + 1L, row, at);
        System.arraycopy(text, 0, row, next, text.length);
        return next + text.length;
    }
}
