package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class PartitionKeysTest {
    private static PartitionKeys keys(String... fields) {
        return new PartitionKeys(PipelineBuilder.named("trades")
                .key(fields)
                .version("v")
                .rollup(r -> r.count("trades"))
                .build());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void all_versions_of_a_key_have_its_own_text_as_partition_key() {
        PartitionKeys keys = keys("id");
        for (String record : List.of("{\"id\":\"Zürich 7\",\"v\":1}", "{\"v\":2,\"x\":[1],\"id\":\"Zürich 7\"}")) {
            assertThat(keys.of(bytes(record))).isEqualTo("Zürich 7");
        }
    }

    @Test
    void a_key_that_is_too_long_or_no_text_is_hashed_and_equal_ones_alike() {
        String longest = "x".repeat(256);
        assertThat(keys("id").of(bytes("{\"id\":\"" + longest + "\",\"v\":1}"))).isEqualTo(longest);
        for (String key : List.of("\"" + longest + "y\"", "\"a\\u0000b\"")) {
            PartitionKeys keys = keys("id");
            assertThat(keys.of(bytes("{\"id\":" + key + ",\"v\":1}")))
                    .hasSize(64)
                    .isEqualTo(keys.of(bytes("{\"v\":2,\"id\":" + key + "}")));
        }
        PartitionKeys two = keys("a", "b");
        assertThat(two.of(bytes("{\"a\":\"x\",\"b\":\"y\",\"v\":1}")))
                .hasSize(64)
                .isEqualTo(two.of(bytes("{\"b\":\"y\",\"a\":\"x\",\"v\":2}")))
                .isNotEqualTo(two.of(bytes("{\"b\":\"\",\"a\":\"xy\",\"v\":2}")));
    }

    @Test
    void what_is_no_event_has_a_partition_key_too() {
        PartitionKeys keys = keys("id");
        assertThat(keys.of(bytes("poison"))).hasSize(64).isNotEqualTo(keys.of(bytes("other poison")));
        assertThat(keys.of(new byte[0])).hasSize(64);
        assertThat(keys.of(bytes("{\"v\":1}"))).hasSize(64);
    }
}
