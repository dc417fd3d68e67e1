package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Test;

/// UUIDs of version 7 and ULIDs have their milliseconds in front, and order versions by all their bits.
class TimedIdsTest {
    private static final String RFC_9562 = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"; // Appendix A.6: 1645557742000
    private static final String OF_SPECIFICATION = "01ARZ3NDEKTSV4RRFFQ69G5FAV"; // github.com/ulid/spec
    private static final long OF_SPECIFICATION_MS = 1_469_922_850_259L;

    private static Pipeline pipeline(TimeType type) {
        return PipelineBuilder.named("orders")
                .key("k")
                .version("v", type)
                .time("v", type)
                .rollup(rollup -> rollup.count("n"))
                .build();
    }

    private static String record(String version) {
        return "{\"k\":\"a\",\"v\":" + version + "}";
    }

    @Test
    void the_time_of_an_id_is_its_milliseconds_and_the_version_all_of_it() {
        Decoding uuids = Decoding.of(pipeline(TimeType.UUID7));
        BigInteger number = new BigInteger(RFC_9562.replace("-", ""), 16);
        for (String spelling : List.of(RFC_9562, RFC_9562.toLowerCase(java.util.Locale.ROOT))) {
            assertThat(uuids.version(record('"' + spelling + '"'))).isEqualTo(number);
            assertThat(uuids.event(record('"' + spelling + '"')).timeMs).isEqualTo(1_645_557_742_000L);
        }
        Decoding ulids = Decoding.of(pipeline(TimeType.ULID));
        assertThat(ulids.event(record('"' + OF_SPECIFICATION + '"')).timeMs).isEqualTo(OF_SPECIFICATION_MS);
        assertThat(ulids.version(record('"' + OF_SPECIFICATION + '"')).shiftRight(80))
                .isEqualTo(BigInteger.valueOf(OF_SPECIFICATION_MS));
        assertThat(ulids.version(record("\"01ARZ3NDEKZZZZZZZZZZZZZZZZ\"")))
                .isEqualTo(BigInteger.valueOf(OF_SPECIFICATION_MS + 1)
                        .shiftLeft(80)
                        .subtract(BigInteger.ONE));
    }

    @Test
    void ids_have_the_order_of_their_texts() {
        List<String> inOrder = List.of(
                "017f22e2-79b0-7000-8000-000000000000",
                "017f22e2-79b0-7000-8000-000000000001",
                "017F22E2-79B0-7000-BFFF-FFFFFFFFFFFF",
                "017f22e2-79b0-7fff-8000-000000000000",
                "017f22e2-79b1-7000-8000-000000000000");
        Decoding uuids = Decoding.of(pipeline(TimeType.UUID7));
        List<BigInteger> versions = inOrder.stream()
                .map(id -> uuids.version(record('"' + id + '"')))
                .toList();
        assertThat(versions).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void what_is_no_such_id_is_refused() {
        Decoding uuids = Decoding.of(pipeline(TimeType.UUID7));
        for (String wrong : List.of(
                "\"017f22e2-79b0-4cc3-98c4-dc0c0c07398f\"",
                "\"017f22e2-79b0-7cc3-c8c4-dc0c0c07398f\"",
                "\"017f22e279b07cc398c4dc0c0c07398f\"",
                "\"017f22e2-79b0-7cc3-98c4-dc0c0c07398g\"",
                "\" 017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"",
                "1645557742000")) {
            assertThat(uuids.refusal(record(wrong)).message()).contains("wanted is a UUID of version 7, such as");
        }
        Decoding ulids = Decoding.of(pipeline(TimeType.ULID));
        for (String wrong : List.of(
                "\"81ARZ3NDEKTSV4RRFFQ69G5FAV\"",
                "\"01ARZ3NDEKTSV4RRFFQ69G5FA\"",
                "\"01ARZ3NDEKTSV4RRFFQ69G5FAU\"",
                "\"O1ARZ3NDEKTSV4RRFFQ69G5FAV\"",
                "1469922850259")) {
            assertThat(ulids.refusal(record(wrong)).message()).contains("wanted is a ULID, such as");
        }
    }

    @Test
    void an_id_in_a_version_without_a_type_gets_the_type_to_write() {
        Decoding integers = Decoding.of(PipelineBuilder.named("orders")
                .key("k")
                .version("v")
                .rollup(rollup -> rollup.count("n"))
                .build());
        assertThat(integers.refusal(record('"' + RFC_9562 + '"')).message())
                .endsWith(
                        "It has the form of a UUID of version 7: write the type uuid7 if one source makes them in order");
        assertThat(integers.refusal(record('"' + OF_SPECIFICATION + '"')).message())
                .contains("write the type ulid");
        assertThat(integers.refusal(record("\"3f22e279-b07c-4c39-8c4d-c0c0c07398f0\""))
                        .message())
                .doesNotContain("write the type");
    }
}
