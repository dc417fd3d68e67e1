package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Versions of several fields, compared one after the other.
class CompositeVersionTest {
    private static final Pipeline MAXWELL = versioned("xid", Map.of("field", "xoffset", "missing", "highest"));

    private static Pipeline versioned(Object... version) {
        return PipelineBuilder.named("p")
                .key("k")
                .identity("version", List.of(version))
                .rollup(r -> r.count("n"))
                .build();
    }

    private static String record(String fields) {
        return "{\"k\":1," + fields + "}";
    }

    @Test
    void the_parts_are_compared_one_after_the_other_and_a_missing_one_is_what_the_file_says() {
        Decoding maxwell = Decoding.of(MAXWELL);
        List<BigInteger> rising = List.of(
                maxwell.version(record("\"xid\":900,\"xoffset\":0")),
                maxwell.version(record("\"xid\":900,\"xoffset\":\"12\"")),
                maxwell.version(record("\"xid\":900")),
                maxwell.version(record("\"xid\":901.0,\"xoffset\":0")),
                maxwell.version(record("\"xid\":901,\"xoffset\":1")));
        assertThat(rising).isSorted().doesNotHaveDuplicates();
        Decoding zero = Decoding.of(versioned("a", Map.of("field", "b", "missing", "7")));
        assertThat(zero.version(record("\"a\":5"))).isEqualTo(zero.version(record("\"a\":5,\"b\":7")));
        Version version = new Version(rising.get(1), Version.Kind.NUMBER);
        assertThat(Version.parse(MAXWELL, version.toString())).isEqualTo(version);
    }

    @Test
    void the_bytes_compare_as_the_parts_do() {
        Seeds.forAllSeeds(500, random -> {
            int parts = random.nextInt(2, 5);
            Decoding decoding = Decoding.of(versioned(
                    (Object[]) IntStream.range(0, parts).mapToObj(i -> "v" + i).toArray(String[]::new)));
            List<BigInteger> one = numbers(random, parts);
            List<BigInteger> other = random.nextBoolean() ? numbers(random, parts) : changed(one, random);
            Comparator<List<BigInteger>> order = (a, b) -> IntStream.range(0, parts)
                    .map(i -> a.get(i).compareTo(b.get(i)))
                    .filter(result -> result != 0)
                    .findFirst()
                    .orElse(0);
            assertThat(Integer.signum(Arrays.compareUnsigned(bytes(decoding, one), bytes(decoding, other))))
                    .as("%s and %s", one, other)
                    .isEqualTo(Integer.signum(order.compare(one, other)));
        });
    }

    private static byte[] bytes(Decoding decoding, List<BigInteger> parts) {
        return decoding.versionBytes(record(IntStream.range(0, parts.size())
                .mapToObj(i -> "\"v" + i + "\":" + parts.get(i))
                .collect(Collectors.joining(","))));
    }

    private static List<BigInteger> numbers(RandomGenerator random, int parts) {
        BigInteger end = BigInteger.TEN.pow(64 / parts);
        return IntStream.range(0, parts)
                .mapToObj(_ -> random.nextInt(4) == 0
                        ? end.subtract(BigInteger.valueOf(1 + random.nextInt(3)))
                        : BigInteger.valueOf(random.nextInt(3)))
                .toList();
    }

    private static List<BigInteger> changed(List<BigInteger> parts, RandomGenerator random) {
        int at = random.nextInt(parts.size());
        return IntStream.range(0, parts.size())
                .mapToObj(i -> i == at ? BigInteger.valueOf(random.nextInt(3)) : parts.get(i))
                .toList();
    }

    @Test
    void a_part_that_is_missing_below_zero_or_too_long_is_refused() {
        Decoding decoding = Decoding.of(versioned("a", "b"));
        String message = decoding.refusal(record("\"a\":1")).message();
        assertThat(message).startsWith("Field b is missing; it is a part of the version. If it may be, write for it");
        Pipeline advised = ((Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":{\"key\":\"k\","
                        + "\"version\":[\"a\"," + message.replaceFirst(".*?(\\{.*}).*", "$1")
                        + "]},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}"))
                .pipeline();
        assertThat(Decoding.of(advised).decode(record("\"a\":1"))).isNull();
        assertThat(decoding.refusal(record("\"a\":-1,\"b\":1")).message())
                .isEqualTo("Field a is -1; as one of 2 parts of a version it is from 0, and has at most 32 digits");
        assertThat(decoding.refusal(record("\"a\":1,\"b\":1" + "0".repeat(32))).message())
                .endsWith("at most 32 digits");
        assertThat(decoding.refusal(record("\"a\":1,\"b\":\"x\"")).message()).endsWith("it is the version");
    }

    @Test
    void a_part_may_be_a_time() {
        Decoding decoding = Decoding.of(versioned(Map.of("field", "at", "type", "iso"), "n"));
        assertThat(decoding.version(record("\"at\":\"2024-05-01T10:00:00.000000001Z\",\"n\":0")))
                .isGreaterThan(decoding.version(record("\"at\":\"2024-05-01T10:00:00Z\",\"n\":9")));
    }

    @Test
    void a_time_that_has_more_digits_than_a_part_may_have_is_refused_by_the_reader() {
        Object at = Map.of("field", "at", "type", "epoch-micros");
        Object clock = Map.of("field", "at", "type", "hlc");
        for (Object[] wrong : List.of(new Object[] {"a", "b", "c", at}, new Object[] {"a", "b", clock})) {
            assertThatThrownBy(() -> versioned(wrong))
                    .hasMessageContaining("write fewer parts, or an integer in its place");
        }
        Decoding.of(versioned("a", "b", at));
        Decoding.of(versioned("a", clock));
    }

    @Test
    void a_list_has_two_to_four_different_fields() {
        for (Object[] wrong : List.of(
                new Object[] {"a"},
                new Object[] {"a", "a"},
                new Object[] {"a", "b", "c", "d", "e"},
                new Object[] {"a", Map.of("field", "b", "missing", "-1")},
                new Object[] {"a", Map.of("field", "b", "type", "auto")})) {
            assertThatThrownBy(() -> versioned(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void the_text_has_the_parts_and_another_version_is_another_definition() {
        String text = PipelineText.write(MAXWELL);
        assertThat(text).contains("\"version\":[\"xid\",{\"field\":\"xoffset\",\"missing\":\"highest\"}]");
        assertThat(((Reading.Read) PipelineText.read(text)).pipeline()).isEqualTo(MAXWELL);
        assertThat(Derivation.of(MAXWELL, versioned("xid", "xoffset")))
                .isEqualTo(new Derivation.Impossible("the key, id or version has changed"));
    }
}
