package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.state.Key;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Keys and versions as values, as texts and as the bytes of an event.
class IdentityTest {
    private static Pipeline pipeline(PipelineBuilder builder) {
        return builder.rollup(r -> r.count("n")).build();
    }

    private static final Pipeline ONE =
            pipeline(PipelineBuilder.named("one").key("k").version("v"));
    private static final Pipeline TWO =
            pipeline(PipelineBuilder.named("two").key("k", "l").version("v", TimeType.ISO));
    private static final Pipeline BY_ID = pipeline(PipelineBuilder.named("id").id("i"));
    private static final Pipeline BY_PLACE = pipeline(PipelineBuilder.named("place"));

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_key_of_one_part_is_its_text_and_one_of_several_is_their_tuple() {
        assertThat(Key.bytes(ONE, List.of("ä"))).isEqualTo(utf8("ä"));
        assertThat(Key.bytes(BY_ID, List.of("i"))).isEqualTo(utf8("i"));
        assertThat(Key.bytes(TWO, List.of("a", "b")))
                .isEqualTo(Tuple.of(List.of("a", "b")).bytes());
        assertThat(Key.parts(ONE, utf8("ä\0"))).containsExactly("ä\0");
        assertThat(Key.parts(TWO, Tuple.of(List.of("a\0", "")).bytes())).containsExactly("a\0", "");
    }

    @Test
    void a_key_of_another_number_of_parts_is_refused() {
        assertThatThrownBy(() -> Key.bytes(ONE, List.of("a", "b")))
                .hasMessage("A key of pipeline one has 1 part, not 2");
        assertThatThrownBy(() -> Key.bytes(TWO, List.of("a"))).hasMessage("A key of pipeline two has 2 parts, not 1");
        assertThatThrownBy(() -> Key.bytes(BY_PLACE, List.of())).hasMessage("Pipeline place has no keys");
        assertThatThrownBy(() -> Key.bytes(ONE, List.of("\ud800"))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_version_is_the_same_after_it_was_a_text_and_after_it_was_bytes() {
        Seeds.forAllSeeds(300, random -> {
            BigInteger number = new BigInteger(random.nextInt(1, 210), java.util.Random.from(random));
            Version version = new Version(random.nextBoolean() ? number : number.negate(), Version.Kind.NUMBER);
            assertThat(Version.parse(ONE, version.toString())).isEqualTo(version);
            assertThat(Version.of(ONE, version.bytes())).isEqualTo(version);
            Version time = new Version(BigInteger.valueOf(random.nextLong()), Version.Kind.TIME);
            assertThat(Version.parse(TWO, time.toString())).isEqualTo(time);
            assertThat(Version.of(TWO, time.bytes())).isEqualTo(time);
            assertThat(version.isNone() || time.isNone()).isFalse();
        });
        assertThat(Version.parse(TWO, "2026-11-22T01:02:03.000000004Z"))
                .hasToString("2026-11-22T01:02:03.000000004Z")
                .isEqualTo(new Version(new BigInteger("1795309323000000004"), Version.Kind.TIME));
    }

    @Test
    void versions_are_in_the_order_of_their_numbers_and_of_their_bytes() {
        Seeds.forAllSeeds(300, random -> {
            BigInteger one = BigInteger.valueOf(random.nextLong() >> random.nextInt(64));
            BigInteger other = BigInteger.valueOf(random.nextLong() >> random.nextInt(64));
            Version version = new Version(one, Version.Kind.NUMBER);
            Version second = new Version(other, Version.Kind.NUMBER);
            assertThat(version.compareTo(second)).isEqualTo(one.compareTo(other));
            assertThat(Integer.signum(Arrays.compareUnsigned(version.bytes(), second.bytes())))
                    .isEqualTo(one.compareTo(other));
        });
    }

    @Test
    void where_there_are_no_versions_there_is_none() {
        for (Pipeline each : List.of(BY_ID, BY_PLACE)) {
            assertThat(Version.of(each, utf8("x"))).isEqualTo(Version.NONE);
            assertThat(Version.parse(each, "7")).isEqualTo(Version.NONE);
        }
        assertThat(Version.of(ONE, RecordIdentity.NONE)).isEqualTo(Version.NONE);
        assertThat(Version.NONE.isNone()).isTrue();
        assertThat(Version.NONE).hasToString("");
    }

    private static RecordIdentity stated(Pipeline pipeline, String record) {
        return new Decoder(pipeline).identity(utf8(record));
    }

    @Test
    void a_record_that_is_refused_states_its_identity_as_far_as_it_can_be_read() {
        Pipeline sums = PipelineBuilder.named("one")
                .key("k")
                .version("v")
                .rollup(r -> r.sum("s", "n", 9, 0))
                .build();
        for (String end : List.of("", "\n", "\r\n", "\n\n")) {
            RecordIdentity whole = stated(sums, "{\"k\": \"a\", \"v\": 7, \"n\": \"x\"}" + end);
            assertThat(whole.key()).isEqualTo(utf8("a"));
            assertThat(Version.of(sums, whole)).isEqualTo(new Version(BigInteger.valueOf(7), Version.Kind.NUMBER));
        }
        RecordIdentity keyOnly = stated(sums, "{\"k\": \"a\", \"v\": \"x\"}");
        assertThat(keyOnly.key()).isEqualTo(utf8("a"));
        assertThat(keyOnly.version()).isNull();
        RecordIdentity nothing = stated(sums, "{\"v\": 7}");
        assertThat(nothing.key()).isNull();
        assertThat(nothing.version()).isNull();
        assertThat(stated(sums, "\n").key()).isNull();
        assertThat(stated(sums, "").key()).isNull();
    }

    @Test
    void a_record_whose_columns_are_not_known_states_nothing_until_they_are() {
        Pipeline csv = pipeline(PipelineBuilder.named("one").csv().key("k").version("v"));
        assertThat(stated(csv, "a,7")).isEqualTo(RecordIdentity.NONE);
        Decoder decoder = new Decoder(csv);
        byte[] header = Arrays.copyOf(utf8("k,v"), 3 + Decoder.PADDING);
        assertThat(decoder.header(header, 0, 3)).isNull();
        assertThat(decoder.identity(utf8("a,7\r\n")).key()).isEqualTo(utf8("a"));
    }

    @Test
    void a_header_with_another_delimiter_is_refused_with_the_one_to_write() {
        Pipeline csv = pipeline(PipelineBuilder.named("one").csv().key("k").version("v"));
        for (String delimiter : List.of(";", "\t", "|")) {
            byte[] header = Arrays.copyOf(utf8("k" + delimiter + "v"), 3 + Decoder.PADDING);
            assertThat(Objects.requireNonNull(new Decoder(csv).header(header, 0, 3))
                            .message())
                    .endsWith("Write delimiter: \"" + delimiter.replace("\t", "\\t") + "\" under input");
        }
        byte[] other = Arrays.copyOf(utf8("k:v"), 3 + Decoder.PADDING);
        assertThat(Objects.requireNonNull(new Decoder(csv).header(other, 0, 3)).message())
                .doesNotContain("delimiter");
    }

    @Test
    void a_stated_key_is_found_by_its_bytes_and_its_hash() {
        RecordIdentity a = new RecordIdentity(utf8("a"), null);
        assertThat(a.isOf(utf8("a"))).isTrue();
        assertThat(a.isOf(utf8("b"))).isFalse();
        assertThat(RecordIdentity.NONE.isOf(utf8("a"))).isFalse();
        assertThat(RecordIdentity.NONE.keyHash()).isZero();
        assertThat(a.keyHash()).isEqualTo(new RecordIdentity(utf8("a"), utf8("v")).keyHash());
        assertThat(IntStream.range(0, 1_000)
                        .mapToLong(i -> new RecordIdentity(utf8("key" + i), null).keyHash())
                        .distinct()
                        .count())
                .isEqualTo(1_000);
    }
}
