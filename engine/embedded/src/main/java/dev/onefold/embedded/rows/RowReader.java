package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/// Reads stored rows of one pipeline. Holds no state; any thread that may read the segment may use it.
final class RowReader {
    private final Pipeline pipeline;
    private final Groups[] groups;
    private final Measure.Input[] inputs;
    private final boolean[] texts;

    RowReader(Pipeline pipeline, Groups[] groups) {
        this.pipeline = pipeline;
        this.groups = groups;
        inputs = Rollups.of(pipeline).inputs().toArray(new Measure.Input[0]);
        texts = RowBatch.texts(pipeline);
    }

    Amounts amounts() {
        return new Amounts(groups.length, inputs.length);
    }

    /// The place of the part behind the version that begins at `version`.
    static long versionEnd(Segment segment, long version) {
        return version + VersionBytes.length(segment.memory.get(ValueLayout.JAVA_BYTE, version));
    }

    /// The place of the kind, behind the source that begins at `source`.
    static long kindAt(Segment segment, long source) {
        return segment.varintEnd(segment.varintEnd(source));
    }

    /// Fills the amounts of the row whose kind is at `at`.
    void read(Segment segment, long at, Amounts into) {
        MemorySegment memory = segment.memory;
        into.counted = memory.get(ValueLayout.JAVA_BYTE, at) == Event.Kind.COUNTED.code();
        if (!into.counted) {
            return;
        }
        long next = at + 1;
        int[] group = into.group;
        for (int rollup = 0; rollup < group.length; rollup++) {
            group[rollup] = (int) segment.varint(next);
            next = segment.varintEnd(next);
        }
        for (int input = 0; input < texts.length; input++) {
            if (texts[input]) {
                long length = segment.varint(next) - 1;
                next = segment.varintEnd(next);
                into.present[input] = length >= 0;
                if (length >= 0) {
                    into.text[input] = text(segment, next, (int) length);
                    next += length;
                }
                continue;
            }
            int n = memory.get(ValueLayout.JAVA_BYTE, next);
            into.present[input] = n > 0;
            if (n > 8) {
                into.lo[input] = memory.get(Segment.LONG, next + 1);
                into.hi[input] = memory.get(Segment.LONG, next + 9);
            } else if (n > 0) {
                int shift = 64 - 8 * n;
                long lo = memory.get(Segment.LONG, next + 1) << shift >> shift;
                into.lo[input] = lo;
                into.hi[input] = lo >> 63;
            }
            next += 1 + n;
        }
    }

    private static byte[] text(Segment segment, long at, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, at, bytes, 0, length);
        return bytes;
    }

    /// The contribution of the row whose kind is at `at`.
    Contribution contribution(Segment segment, long at) {
        Event.Kind kind = Event.Kind.of(segment.memory.get(ValueLayout.JAVA_BYTE, at));
        if (kind != Event.Kind.COUNTED) {
            return new Contribution(kind, List.of(), List.of());
        }
        Amounts amounts = amounts();
        read(segment, at, amounts);
        return contribution(amounts, rollup -> groups[rollup].tuple(amounts.group[rollup]));
    }

    private Contribution contribution(Amounts amounts, IntFunction<Tuple> group) {
        List<Tuple> tuples = new ArrayList<>();
        for (int rollup = 0; rollup < groups.length; rollup++) {
            tuples.add(group.apply(rollup));
        }
        List<Amount> values = new ArrayList<>();
        for (int input = 0; input < inputs.length; input++) {
            values.add(amount(amounts, input));
        }
        return new Contribution(Event.Kind.COUNTED, tuples, values);
    }

    /// The amount of one input.
    Amount amount(Amounts amounts, int input) {
        if (!amounts.present[input]) {
            return new Amount.None();
        }
        return switch (inputs[input]) {
            case Measure.Input.Text _ ->
                new Amount.Text(
                        new String(java.util.Objects.requireNonNull(amounts.text[input]), StandardCharsets.UTF_8));
            case Measure.Input.Decimal decimal -> {
                BigInteger unscaled = BigInteger.valueOf(amounts.hi[input])
                        .shiftLeft(64)
                        .or(new BigInteger(
                                1,
                                java.nio.ByteBuffer.allocate(8)
                                        .putLong(amounts.lo[input])
                                        .array()));
                yield new Amount.Number(new BigDecimal(unscaled, decimal.type().scale()));
            }
        };
    }

    /// The whole row that begins (behind its length) at `at`.
    Row row(Segment segment, long at, IntFunction<String> sourceName) {
        long version = keyEnd(segment, at);
        long source = versionEnd(segment, version);
        long offset = segment.varintEnd(source);
        return new Row(
                key(segment, at),
                version(segment, version),
                contribution(segment, segment.varintEnd(offset)),
                sourceName.apply((int) segment.varint(source)),
                segment.varint(offset));
    }

    static long keyEnd(Segment segment, long at) {
        long length = segment.varint(at);
        return length == 0 ? at + 17 : segment.varintEnd(at) + length - 1;
    }

    private List<String> key(Segment segment, long at) {
        long length = segment.varint(at);
        if (length == 0) {
            byte[] sixteen = new byte[16];
            MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, at + 1, sixteen, 0, 16);
            java.nio.ByteBuffer buffer = java.nio.ByteBuffer.wrap(sixteen);
            return List.of(new java.util.UUID(buffer.getLong(), buffer.getLong()).toString());
        }
        byte[] bytes = new byte[(int) length - 1];
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, segment.varintEnd(at), bytes, 0, bytes.length);
        return Key.parts(pipeline, bytes);
    }

    private Version version(Segment segment, long at) {
        byte[] bytes = new byte[VersionBytes.LENGTH_MAX];
        int length = VersionBytes.length(segment.memory.get(ValueLayout.JAVA_BYTE, at));
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, at, bytes, 0, length);
        return Version.of(pipeline, bytes);
    }
}
