package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.builder.PipelineBuilder.RollupBuilder;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A decoder for tests: it gets each record in the middle of an array, between bytes that would change the outcome
/// if they were read.
final class Decoding {
    /// Bytes around a record into which a decoder may run: each continues a string, a number, an object or a
    /// sequence.
    private static final byte[][] AROUND = {
        "\"\"\"\"\"\"\"\"".getBytes(StandardCharsets.UTF_8),
        "99999999".getBytes(StandardCharsets.UTF_8),
        " \t\r\n \t\r\n".getBytes(StandardCharsets.UTF_8),
        "}}}}}}}}".getBytes(StandardCharsets.UTF_8),
        "\\u00e9,}".getBytes(StandardCharsets.UTF_8),
        ".5e-5.5e".getBytes(StandardCharsets.UTF_8),
        "\",\",\",\",".getBytes(StandardCharsets.UTF_8),
        {-128, -128, -128, -128, -128, -128, -128, -128},
    };

    private final Decoder decoder;
    private final Pipeline pipeline;

    private Decoding(Pipeline pipeline) {
        this.pipeline = pipeline;
        decoder = new Decoder(pipeline);
    }

    static Decoding of(PipelineBuilder builder) {
        return of(builder.build());
    }

    static Decoding of(Pipeline pipeline) {
        return new Decoding(pipeline);
    }

    /// A pipeline without versions that has this level.
    static Decoding level(String level) {
        return of(PipelineBuilder.named("p").rollup(r -> r.levels(level).count("n")));
    }

    /// A pipeline without versions that has this measure.
    static Decoding measure(String measure) {
        return of(PipelineBuilder.named("p").rollup(r -> r.measure("m", measure)));
    }

    /// A pipeline whose records are counted if this holds.
    static Decoding filter(String condition) {
        return of(PipelineBuilder.named("p").filter(condition).rollup(r -> r.count("n")));
    }

    /// A pipeline of comma-separated records, counted by these levels.
    static Decoding csv(Consumer<RollupBuilder> rollup, String... columns) {
        return of(PipelineBuilder.named("p").csv(columns).rollup(rollup));
    }

    /// The problem of the record, or `null`.
    @Nullable
    Malformed decode(byte[] record) {
        byte[] before = null;
        Malformed outcome = null;
        for (byte[] around : AROUND) {
            byte[] framed = new byte[record.length + 3 + Decoder.PADDING];
            System.arraycopy(around, 0, framed, 0, 3);
            System.arraycopy(record, 0, framed, 3, record.length);
            System.arraycopy(around, 0, framed, 3 + record.length, Math.min(around.length, Decoder.PADDING));
            outcome = decoder.decode(framed, 3, 3 + record.length);
            byte[] after = outcome == null ? seen() : outcome.message().getBytes(StandardCharsets.UTF_8);
            if (before != null && !Arrays.equals(before, after)) {
                fail("What stands around the record matters: %s", new String(record, StandardCharsets.UTF_8));
            }
            before = after;
        }
        return outcome;
    }

    private byte[] seen() {
        Event event = decoder.event();
        return Arrays.copyOf(event.data, event.length);
    }

    @Nullable
    Malformed decode(String record) {
        return decode(record.getBytes(StandardCharsets.UTF_8));
    }

    /// The event of a record that is one.
    Event event(String record) {
        Malformed malformed = decode(record);
        assertThat(malformed).as(record).isNull();
        return decoder.event();
    }

    /// Why the record is none.
    Malformed refusal(String record) {
        Malformed malformed = decode(record);
        if (malformed == null) {
            fail("Accepted: %s", record);
        }
        return Objects.requireNonNull(malformed);
    }

    @Nullable
    Malformed header(String line) {
        byte[] bytes = ("\"" + line + "\"\"\"\"\"\"\"\"\"").getBytes(StandardCharsets.UTF_8);
        return decoder.header(bytes, 1, 1 + line.getBytes(StandardCharsets.UTF_8).length);
    }

    Event.Kind kind(String record) {
        return event(record).kind;
    }

    boolean counts(String record) {
        return kind(record) == Event.Kind.COUNTED;
    }

    /// The bytes of the key as text, if it has one part.
    String key(String record) {
        Event event = event(record);
        return new String(event.data, event.keyFrom, event.keyTo - event.keyFrom, StandardCharsets.UTF_8);
    }

    List<String> keyParts(String record) {
        Event event = event(record);
        return new Tuple(Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo)).parts();
    }

    BigInteger version(String record) {
        Event event = event(record);
        assertThat(event.versionTo - event.versionFrom)
                .isEqualTo(VersionBytes.length(event.data[event.versionFrom]))
                .isLessThanOrEqualTo(VersionBytes.LENGTH_MAX);
        return VersionBytes.number(event.data, event.versionFrom);
    }

    byte[] versionBytes(String record) {
        Event event = event(record);
        return Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo);
    }

    /// The group in the first roll-up.
    List<String> group(String record) {
        return group(record, 0);
    }

    List<String> group(String record, int rollup) {
        Event event = event(record);
        return new Tuple(Arrays.copyOfRange(event.data, event.groupFrom[rollup], event.groupTo[rollup])).parts();
    }

    /// The first input, a number, at the scale of its type.
    @Nullable
    BigDecimal number(String record) {
        DecimalType type =
                ((Measure.Input.Decimal) Rollups.of(pipeline).inputs().getFirst()).type();
        return event(record).number(0, type.scale());
    }

    /// The first input, a text.
    @Nullable
    String text(String record) {
        Event event = event(record);
        return event.present[0]
                ? new String(event.data, event.textFrom[0], event.textTo[0] - event.textFrom[0], StandardCharsets.UTF_8)
                : null;
    }
}
