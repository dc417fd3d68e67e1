package dev.onefold.core.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.codec.Samples.Mode;
import dev.onefold.core.codec.Samples.Nested;
import dev.onefold.core.codec.Samples.Scalars;
import dev.onefold.core.codec.Samples.Small;
import dev.onefold.core.shape.Value;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Records as bytes, and back.
class CodecTest {
    @Test
    void a_random_record_comes_back_as_it_was_and_its_values_are_those_of_a_plain_reader() {
        List<? extends Codec<? extends Record>> codecs =
                Samples.ALL.stream().map(Codec::of).toList();
        Seeds.forAllSeeds(800, random -> codecs.forEach(codec -> check(codec, random)));
    }

    private static <T extends Record> void check(Codec<T> codec, RandomGenerator random) {
        T record = Samples.random(codec.record(), random);
        byte[] bytes = codec.encode(record);
        assertThat(codec.decode(bytes, null)).isEqualTo(record);
        assertThat(codec.encode(codec.decode(bytes, null))).isEqualTo(bytes);
        Value.Fields fields = Value.read(bytes);
        assertThat(fields.plain()).isEqualTo(Samples.plain(record));
        assertThat(fields.toBytes()).isEqualTo(bytes);
        byte[] broken = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
        if (random.nextBoolean() && broken.length > 0) {
            broken[random.nextInt(broken.length)] = (byte) random.nextInt();
        }
        for (Runnable reader : List.<Runnable>of(() -> codec.decode(broken, null), () -> Value.read(broken))) {
            try {
                reader.run();
            } catch (IllegalStateException | ShapeException refused) {
                assertThat(refused.getMessage()).isNotEmpty();
            }
        }
    }

    @Test
    void bytes_are_the_number_of_components_and_each_name_and_value() {
        byte[] bytes = Codec.of(Small.class).encode(new Small("Ann", -1, 300, true));
        assertThat(new String(bytes, StandardCharsets.ISO_8859_1))
                .isEqualTo("\4" + "\6runner\6\3Ann" + "\3lap\3\1" + "\6metres\4\u00d8\4" + "\4done\2");
    }

    @Test
    void the_type_is_the_class_as_data() {
        assertThat(Codec.of(Scalars.class).type())
                .hasToString("{flag: boolean, whole: int, wide: long,"
                        + " decimal: decimal, text: text, time: time, date: date, duration: duration,"
                        + " mode: (WALK|RUN|SWIM_WITH_SLEEVES)}");
        assertThat(Codec.of(Samples.Renamed.class).type())
                .hasToString("{distance_meters: long, position.at: time, \"a.b\".\"c \"\"d\"\"\": int}");
    }

    @Test
    void decimals_that_are_equal_have_equal_bytes() {
        Codec<Price> codec = Codec.of(Price.class);
        byte[] hundred = codec.encode(new Price(new BigDecimal("1E+2")));
        assertThat(codec.encode(new Price(new BigDecimal("100.00")))).isEqualTo(hundred);
        assertThat(codec.decode(hundred, null).price()).hasToString("100");
        assertThat(codec.encode(new Price(new BigDecimal("0.00"))))
                .isEqualTo(codec.encode(new Price(new BigDecimal("0E+9"))));
        assertThat(Value.read(hundred).toJson()).isEqualTo("{\"price\":100}");
    }

    public record Price(BigDecimal price) {}

    @Test
    void what_breaks_a_limit_is_refused_by_name() {
        Codec<Price> price = Codec.of(Price.class);
        assertThat(price.encode(new Price(new BigDecimal("9".repeat(38) + "0".repeat(87)))))
                .isNotEmpty();
        assertRefused(() -> price.encode(new Price(new BigDecimal("1".repeat(39)))), "component price has 39 digits");
        assertRefused(() -> price.encode(new Price(new BigDecimal("1E+88"))), "component price ends at the digit of");
        assertRefused(() -> price.encode(new Price(new BigDecimal("1E-126"))), "component price ends at the digit of");
        assertRefused(() -> price.encode(new Price(null)), "component price is null; use Optional");
        Codec<Small> small = Codec.of(Small.class);
        assertRefused(
                () -> small.encode(new Small("half \ud834", 1, 1, true)),
                "component runner is not Unicode text: it holds half of a surrogate pair");
        Codec<Laps> laps = Codec.of(Laps.class);
        assertRefused(() -> laps.encode(new Laps(Arrays.asList(1, null))), "component laps[] is null");
    }

    public record Laps(List<Integer> laps) {}

    @Test
    void a_new_component_has_the_value_that_it_has_in_the_defaults_and_one_that_is_gone_is_dropped() {
        byte[] old = Codec.of(Before.class).encode(new Before(7, "gone", new Part1("a", 1), true));
        assertThat(Codec.of(After.class)
                        .decode(old, new After(true, Optional.of(9L), new Part2(5, "b", 2), 0, Optional.empty())))
                .isEqualTo(new After(true, Optional.of(9L), new Part2(5, "a", 1), 7, Optional.empty()));
        assertRefused(
                () -> Codec.of(After.class).decode(old, null),
                "component part.added is not in what is stored, and int is wanted");
    }

    public record Before(int laps, String gone, Part1 part, boolean alsoGone) {}

    public record After(boolean added, Optional<Long> filled, Part2 part, long laps, Optional<String> optional) {}

    public record Part1(String name, int number) {}

    public record Part2(int added, String name, long number) {}

    @Test
    void a_component_of_another_type_is_refused_with_both_types() {
        byte[] bytes = Codec.of(Small.class).encode(new Small("Ann", 1, 2, true));
        assertRefused(
                () -> Codec.of(Laps2.class).decode(bytes, null), "component lap is stored as int, and text is wanted");
        assertRefused(
                () -> Codec.of(Modes.class).decode(Codec.of(Mode2.class).encode(new Mode2(Other.SWIM)), null),
                "component mode is stored as SWIM, which is none of WALK, RUN, SWIM_WITH_SLEEVES");
    }

    public record Laps2(String lap) {}

    public record Modes(Mode mode) {}

    public record Mode2(Other mode) {}

    public enum Other {
        SWIM
    }

    @Test
    void a_constructor_that_throws_is_named() {
        byte[] bytes = Codec.of(Small.class).encode(new Small("Ann", -1, 2, true));
        assertRefused(
                () -> Codec.of(Positive.class).decode(bytes, null),
                "cannot be made: its constructor throws java.lang.IllegalArgumentException: lap -1");
    }

    public record Positive(int lap) {
        public Positive {
            if (lap < 0) {
                throw new IllegalArgumentException("lap " + lap);
            }
        }
    }

    @Test
    void json_has_plain_numbers_and_iso_texts() {
        Scalars scalars = new Scalars(
                true,
                1,
                Long.MIN_VALUE,
                new BigDecimal("1E-7"),
                "a\"b",
                Instant.parse("2026-11-22T10:00:00.5Z"),
                LocalDate.of(2026, 11, 22),
                Duration.ofMillis(90_500),
                Mode.RUN);
        assertThat(Value.read(Codec.of(Scalars.class).encode(scalars)).toJson())
                .isEqualTo("{\"flag\":true,\"whole\":1,\"wide\":-9223372036854775808,\"decimal\":0.0000001,"
                        + "\"text\":\"a\\\"b\",\"time\":\"2026-11-22T10:00:00.500Z\",\"date\":\"2026-11-22\","
                        + "\"duration\":\"PT1M30.5S\",\"mode\":\"RUN\"}");
    }

    @Test
    void stored_values_are_found_by_name_and_type() {
        Nested nested = new Nested(
                new Small("Ann", 1, 2, true),
                Optional.empty(),
                List.of(new Small("Bob", 3, 4, false)),
                Optional.of(List.of(Optional.of(5L))),
                List.of(),
                new Samples.Nothing(),
                Optional.of(true),
                List.of());
        dev.onefold.process.Stored stored =
                Value.read(Codec.of(Nested.class).encode(nested)).stored();
        assertThat(stored.names()).startsWith("small", "scalars").hasSize(8);
        assertThat(stored.nested("small").orElseThrow().text("runner")).contains("Ann");
        assertThat(stored.nested("small").orElseThrow().number("runner")).isEmpty();
        assertThat(stored.nested("scalars")).isEmpty();
        assertThat(stored.flag("maybe")).contains(true);
        assertThat(stored.list("smalls")
                        .orElseThrow()
                        .getFirst()
                        .nested("item")
                        .orElseThrow()
                        .number("lap"))
                .contains(new BigDecimal(3));
        assertThat(stored.list("numbers").orElseThrow().getFirst().number("item"))
                .contains(new BigDecimal(5));
        assertThat(stored.text("nowhere")).isEmpty();
    }

    private static void assertRefused(Runnable act, String message) {
        assertThatThrownBy(act::run).isInstanceOf(ShapeException.class).hasMessageContaining(message);
    }
}
