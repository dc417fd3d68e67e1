package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Times of Debezium, whose schema says how they are written.
class ConnectTimesTest {
    private static final String TIMES = """
            io.debezium.time.Date, 19844, epoch-days
            io.debezium.time.Timestamp, 1714521600000, epoch-millis
            io.debezium.time.MicroTimestamp, 1714521600000000, epoch-micros
            io.debezium.time.NanoTimestamp, 1714521600000000000, epoch-nanos
            io.debezium.time.ZonedTimestamp, "2024-05-01T02:00:00+02:00", iso
            io.debezium.time.IsoTimestamp, "2024-05-01T00:00:00Z", iso
            org.apache.kafka.connect.data.Date, 19844, epoch-days
            org.apache.kafka.connect.data.Timestamp, 1714521600000, epoch-millis
            """;

    private static String change(String schema, String at) {
        return "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"field\":\"after\",\"fields\":["
                + "{\"type\":\"int32\",\"field\":\"id\"},{\"type\":\"int64\",\"name\":\"" + schema
                + "\",\"version\":1,\"field\":\"at\"}]}]},\"payload\":" + plain(at) + "}";
    }

    private static String plain(String at) {
        return "{\"before\":null,\"after\":{\"id\":1,\"at\":" + at
                + "},\"source\":{\"schema\":\"public\",\"table\":\"sale\",\"lsn\":7,\"sequence\":\"[null, \\\"7\\\"]\"},\"op\":\"u\"}";
    }

    private static PipelineBuilder sales() {
        return PipelineBuilder.named("sales").debezium("public.sale").key("id");
    }

    private static Decoding zoned(UnaryOperator<PipelineBuilder> settings, String... levels) {
        return Decoding.of(
                settings.apply(sales()).rollup(r -> r.levels(levels).measure("last", "max(at, auto) decimal(18,0)")));
    }

    /// The ways to say how a time is written, each for this type.
    private static List<PipelineBuilder> stated(TimeType type) {
        return List.of(
                sales().time("at", type).rollup(r -> r.count("n")),
                sales().rollup(r ->
                        r.levels("bucket(at, 1h, " + type.word() + ")").count("n")),
                sales().rollup(r ->
                        r.levels("bucket(at, month, " + type.word() + ")").count("n")),
                sales().rollup(r -> r.measure("last", "max(at, " + type.word() + ") decimal(18,0)")));
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '\0', textBlock = TIMES)
    void a_time_without_a_type_is_read_by_its_schema(String schema, String at, String word) {
        String change = change(schema, at);
        Decoding open = zoned(builder -> builder.time("at"), "bucket(at, 1d)", "bucket(at, month)");
        for (String record : List.of(change, "{\"key\":null,\"value\":" + change + "}")) {
            assertThat(open.group(record)).containsOnly("2024-05-01T00:00:00Z");
            assertThat(open.event(record).timeMs).isEqualTo(1_714_521_600_000L);
            assertThat(open.number(record)).isEqualByComparingTo("1714521600");
        }
        assertThat(word).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '\0', textBlock = TIMES)
    void a_type_that_the_schema_contradicts_is_refused_with_the_type_to_write(String schema, String at, String word) {
        for (TimeType type : TimeType.values()) {
            for (PipelineBuilder pipeline : stated(type)) {
                Malformed malformed = Decoding.of(pipeline).decode(change(schema, at));
                if (type == TimeType.AUTO || type.word().equals(word)) {
                    assertThat(malformed).as("%s", type).isNull();
                } else {
                    assertThat(malformed).isNotNull();
                    assertThat(malformed.message())
                            .startsWith("Field at is ")
                            .endsWith(", which the record's schema says to be " + schema + ": write the type " + word);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '\0', textBlock = TIMES)
    void a_version_is_held_against_the_schema_too(String schema, String at, String word) {
        for (TimeType type : TimeType.values()) {
            if (type == TimeType.AUTO) {
                continue;
            }
            Decoding decoding = Decoding.of(sales().version("at", type).rollup(r -> r.count("n")));
            if (type.word().equals(word)) {
                assertThat(decoding.version(change(schema, at))).isEqualTo(new BigInteger("1714521600000000000"));
            } else {
                assertThat(decoding.refusal(change(schema, at)).message()).endsWith("write the type " + word);
            }
        }
    }

    @Test
    void a_field_that_is_derived_from_a_time_does_not_have_its_schema() {
        String change = change("io.debezium.time.IsoTimestamp", "\"2024-05-01T23:30:00.000000Z\"");
        UnaryOperator<PipelineBuilder> berlin = builder -> builder.zone("Europe/Berlin")
                .let("early", "coalesce(at, other)")
                .let("later", "coalesce(early, other)");
        assertThat(zoned(berlin, "bucket(at, 1d, Europe/Berlin)").group(change)).containsOnly("2024-05-01");
        for (String derived : List.of("early", "later")) {
            assertThat(zoned(berlin, "bucket(" + derived + ", 1d, Europe/Berlin)")
                            .refusal(change)
                            .message())
                    .contains("is derived from a time whose form is in the record's schema", "IsoTimestamp");
            assertThat(zoned(berlin, "bucket(" + derived + ", 1h, iso)").group(change))
                    .containsOnly("2024-05-01T23:00:00Z");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "io.debezium.time.Time",
                "io.debezium.time.MicroTime",
                "io.debezium.time.Year",
                "org.apache.kafka.connect.data.Time"
            })
    void a_time_of_the_day_is_no_point_in_time(String schema) {
        for (TimeType type : TimeType.values()) {
            for (PipelineBuilder pipeline : stated(type)) {
                assertThat(Decoding.of(pipeline)
                                .refusal(change(schema, "1714521600"))
                                .message())
                        .endsWith("which the record's schema says to be " + schema + ", and that is no point in time");
            }
        }
    }

    @Test
    void a_time_that_the_database_has_without_a_zone_is_of_the_zone_of_the_input() {
        UnaryOperator<PipelineBuilder> berlin = builder -> builder.zone("Europe/Berlin");
        Decoding zoned = zoned(berlin, "bucket(at, 1d)");
        String local = "1714514400"; // 2024-04-30T22:00:00Z, the first instant of May in Berlin.
        assertThat(zoned.number(change("io.debezium.time.Date", "19844"))).isEqualByComparingTo(local);
        assertThat(zoned.group(change("io.debezium.time.Date", "19844"))).containsExactly("2024-05-01");
        assertThat(zoned.number(change("io.debezium.time.Timestamp", "1714521600000")))
                .isEqualByComparingTo(local);
        assertThat(zoned.number(change("io.debezium.time.IsoDate", "\"2024-05-01Z\"")))
                .isEqualByComparingTo(local);
        assertThat(zoned.number(change("io.debezium.time.IsoTimestamp", "\"2024-05-01T00:00:00Z\"")))
                .isEqualByComparingTo(local);
        assertThat(zoned.number(change("io.debezium.time.ZonedTimestamp", "\"2024-05-01T00:00:00Z\"")))
                .isEqualByComparingTo("1714521600");
        Decoding utc = Decoding.of(
                sales().zone("Europe/Berlin").rollup(r -> r.measure("last", "max(at, epoch-millis) decimal(18,0)")));
        assertThat(utc.number(change("io.debezium.time.Timestamp", "1714521600000")))
                .isEqualByComparingTo("1714521600");
        long gap = Instant.parse("2024-03-31T02:30:00Z").toEpochMilli();
        assertThat(zoned.refusal(change("io.debezium.time.Timestamp", String.valueOf(gap)))
                        .message())
                .contains("an hour that is left out in Europe/Berlin; write 'fold: earlier'");
        assertThat(zoned.refusal(change("io.debezium.time.Timestamp", String.valueOf(Long.MAX_VALUE)))
                        .message())
                .contains("taken are the years 1900 to 2199");
    }

    @Test
    void a_day_in_a_text_needs_a_zone() {
        String change = change("io.debezium.time.IsoDate", "\"2024-05-01Z\"");
        assertThat(zoned(builder -> builder, "bucket(at, 1d)").refusal(change).message())
                .contains("'2024-05-01', which does not say its zone");
        assertThat(zoned(builder -> builder.zone("UTC"), "bucket(at, 1d)").group(change))
                .containsExactly("2024-05-01");
    }

    @Test
    void a_day_of_the_schema_is_none_of_the_calendar_of_a_zone() {
        Decoding decoding = zoned(builder -> builder, "bucket(at, month, America/New_York)");
        assertThat(decoding.refusal(change("io.debezium.time.Date", "19844")).message())
                .endsWith("'zone: America/New_York'");
    }

    @Test
    void without_a_schema_or_before_edition_3_a_time_is_read_by_its_type() {
        Decoding open = zoned(builder -> builder.time("at"));
        assertThat(open.event(plain("1714521600")).timeMs).isEqualTo(1_714_521_600_000L);
        assertThat(open.refusal(plain("19844")).message()).contains("may be a date");
        assertThat(open.event(change("", "1714521600")).timeMs).isEqualTo(1_714_521_600_000L);
        assertThat(open.event(change("io.debezium.data.Uuid", "1714521600")).timeMs)
                .isEqualTo(1_714_521_600_000L);
        Decoding before = zoned(builder -> builder.edition(2).time("at"));
        String change = change("io.debezium.time.Date", "19844").replace("[null, ", "[null,");
        assertThat(before.event(change).timeMs)
                .isEqualTo(Instant.EPOCH.plus(19_844, ChronoUnit.SECONDS).toEpochMilli());
        assertThat(open.event(change).timeMs)
                .isEqualTo(Instant.EPOCH.plus(19_844, ChronoUnit.DAYS).toEpochMilli());
        assertThat(open.event(plain("1714521600")).timeMs).isEqualTo(1_714_521_600_000L);
    }

    @Test
    void a_blank_in_the_sequence_of_a_change_is_passed_over_since_edition_3() {
        Decoding now = zoned(builder -> builder);
        Decoding before = zoned(builder -> builder.edition(2));
        String change = plain("1714521600");
        String dense = change.replace("[null, ", "[null,");
        assertThat(now.version(change)).isEqualTo(now.version(dense));
        before.event(dense);
        assertThat(before.refusal(change).message()).contains("has no position in the log");
    }
}
