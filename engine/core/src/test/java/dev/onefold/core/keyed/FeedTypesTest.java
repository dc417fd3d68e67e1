package dev.onefold.core.keyed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.codec.Codec;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Each type of a column, in each part of a roll-up that reads one.
class FeedTypesTest {
    /// A row with a component of a type.
    public record Whole(String k, int x) {}

    /// The same.
    public record Longs(String k, long x) {}

    /// The same.
    public record Decimals(String k, BigDecimal x) {}

    /// The same.
    public record Flags(String k, boolean x) {}

    /// The same.
    public record Texts(String k, String x) {}

    /// The same.
    public record Moments(String k, Instant x) {}

    /// The same.
    public record Days(String k, LocalDate x) {}

    /// The same.
    public record Spans(String k, Duration x) {}

    /// The same.
    public record Modes(String k, Mode x) {}

    /// The same.
    public record Perhaps(String k, Optional<Duration> x) {}

    /// The same.
    public record PerhapsWhole(String k, Optional<Integer> x) {}

    /// The same.
    public record Lists(String k, List<Integer> x) {}

    /// The same.
    public record Nested(String k, Inner x) {}

    /// A record inside a row.
    public record Inner(int y) {}

    /// A name.
    public enum Mode {
        WALK
    }

    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final List<Record> ROWS = List.of(
            new Whole("k", 500_000_000),
            new Longs("k", 500_000_000),
            new Decimals("k", new BigDecimal(500_000_000)),
            new Flags("k", true),
            new Moments("k", NOON),
            new Days("k", LocalDate.of(2026, 11, 21)),
            new Spans("k", Duration.ofSeconds(90)),
            new Modes("k", Mode.WALK),
            new Perhaps("k", Optional.of(Duration.ofSeconds(90))),
            new PerhapsWhole("k", Optional.of(500_000_000)),
            new Lists("k", List.of(1)),
            new Nested("k", new Inner(1)));

    /// Parts of a roll-up, each with a text that can feed it.
    private static final Map<String, String> PARTS = Map.ofEntries(
            measure("sum(x) decimal(9,0)", "1"),
            measure("average(x) decimal(9,0)", "1"),
            measure("min(x) decimal(9,0)", "1"),
            measure("max(x) decimal(18,0)", "1"),
            measure("sum(x * x) decimal(18,0)", "1"),
            measure("distinct(x)", "a"),
            measure("count() where x > 5", "1"),
            measure("count() where not x = 'a'", "a"),
            measure("sum(x) decimal(9,0) missing ignore where x = 1 or x is missing", "1"),
            measure("max(x, auto)", NOON.toString()),
            measure("max(x, iso)", NOON.toString()),
            measure("min(x, epoch-seconds)", "1763726400"),
            level("x", "a"),
            level("prefix(x, 2)", "a"),
            level("step(x, 10)", "1"),
            level("bucket(x, 1h)", NOON.toString()),
            level("bucket(x, 1h, iso)", NOON.toString()),
            level("bucket(x, 1h, epoch-millis)", "1763726400000"));

    private static Map.Entry<String, String> measure(String measure, String text) {
        return Map.entry("\"levels\":[\"k\"],\"measures\":{\"m\":\"" + measure + "\"}", text);
    }

    private static Map.Entry<String, String> level(String level, String text) {
        return Map.entry("\"levels\":[\"" + level + "\"],\"measures\":{\"m\":\"count()\"}", text);
    }

    /// Writes one row for each event.
    public record Writing(Record row, boolean declares) implements Processor<Event, Event> {
        @Override
        public Event start() {
            return new Event(0);
        }

        @Override
        public Step<Event> step(Event context, Event event) {
            return Step.to(context).put("t", row);
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return declares ? Map.of("t", row.getClass()) : Map.of();
        }
    }

    /// An event, and a context.
    public record Event(int n) {}

    private static StepFunction function(String part, Record row, boolean declares) {
        return StoredKey.function(
                "\"class\":\"X\",\"order\":\"latest\",\"tables\":{\"t\":\"k\"}",
                ",\"rollups\":{\"r\":{\"of\":\"t\"," + part + "}}",
                new Writing(row, declares));
    }

    private static boolean folds(String part, Record row) {
        return new StoredKey()
                        .fold(function(part, row, false), 1, StoredKey.content(Codec.of(Event.class), new Event(1)))
                == Verdict.ACCEPTED;
    }

    private static boolean isAccepted(String part, Record row) {
        try {
            function(part, row, true);
            return true;
        } catch (IllegalArgumentException refused) {
            return false;
        }
    }

    @Test
    void a_part_of_a_roll_up_is_accepted_if_and_only_if_the_column_that_it_reads_can_feed_it() {
        PARTS.forEach((part, text) -> {
            for (Record row : ROWS) {
                assertThat(isAccepted(part, row)).as(part + " of " + row).isEqualTo(folds(part, row));
            }
            Record texts = new Texts("k", text);
            assertThat(isAccepted(part, texts)).as(part + " of a text").isTrue();
            assertThat(folds(part, texts)).as(part + " of " + texts).isTrue();
        });
    }

    @Test
    void a_measure_that_a_column_cannot_feed_is_refused_with_both() {
        assertThatThrownBy(() -> function(
                        "\"levels\":[\"k\"],\"measures\":{\"longest\":\"max(x) decimal(18,0)\"}",
                        new Spans("k", Duration.ZERO),
                        true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "A roll-up of table t reads x as a number, and in the table's rows it is duration.");
    }
}
