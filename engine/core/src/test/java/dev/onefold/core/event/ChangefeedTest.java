package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Changefeeds of CockroachDB have the key in an array, and hybrid logical clocks for versions.
class ChangefeedTest {
    private static final Pipeline RIDES = PipelineBuilder.named("rides")
            .identity(
                    "key",
                    List.of(
                            Map.of("field", "key", "element", "0"),
                            Map.of("field", "key", "element", "1", "missing", "-")))
            .version("updated", TimeType.HLC)
            .time("updated", TimeType.HLC)
            .delete("after is missing")
            .rollup(rollup -> rollup.sum("fare", "after.fare", 18, 2))
            .build();

    private static String change(String key, String updated) {
        return "{\"after\":{\"fare\":1},\"key\":" + key + ",\"updated\":" + updated + "}";
    }

    @Test
    void a_version_is_of_nanoseconds_and_a_counter_as_one_number_and_the_time_leaves_the_counter_out() {
        Decoding rides = Decoding.of(RIDES);
        String early = change("[1]", "\"1714550400123456789.0000000001\"");
        assertThat(rides.version(early)).isEqualTo("17145504001234567890000000001");
        assertThat(rides.event(early).timeMs).isEqualTo(1714550400123L);
        assertThat(rides.version(change("[1]", "1714550400123456789.0000000010")))
                .isEqualTo("17145504001234567890000000010");
        assertThat(Version.of(RIDES, rides.versionBytes(early))).hasToString("17145504001234567890000000001");
        for (String wrong : List.of(
                "\"1714550400123456789\"",
                "\"1714550400123456789.000000001\"",
                "\"1714550400123456789.00000000001\"",
                "\".0000000001\"",
                "\"1e18.0000000001\"",
                "\"-1.0000000001\"",
                "\"1714550400123456789.0000000001?\"")) {
            assertThat(rides.refusal(change("[1]", wrong)).message()).contains("a counter of ten digits");
        }
    }

    @Test
    void the_type_of_such_a_version_is_said_where_the_file_has_another_one() {
        for (Object version : List.of("updated", Map.of("field", "updated", "type", "epoch-seconds"))) {
            Pipeline other = PipelineBuilder.named("rides")
                    .identity("key", Map.of("field", "key", "element", "0"))
                    .identity("version", version)
                    .rollup(rollup -> rollup.count("n"))
                    .build();
            assertThat(Decoding.of(other)
                            .refusal(change("[1]", "\"1714550400123456789.0000000001\""))
                            .message())
                    .endsWith("It has a counter, as CockroachDB's times: write the type hlc");
            assertThat(Decoding.of(other).refusal(change("[1]", "\"1.5x\"")).message())
                    .doesNotContain("hlc");
        }
    }

    @Test
    void a_part_of_a_key_may_be_an_element_of_an_array() {
        Decoding rides = Decoding.of(RIDES);
        String at = "\"1714550400123456789.0000000001\"";
        Map.of(
                        "[1, \"a\"]", List.of("1", "a"),
                        "[ \"x\\\"],\\u00e9\" ,2.50]", List.of("x\"],é", "2.5"),
                        "[true]", List.of("true", "-"),
                        "[7,null,8]", List.of("7", "-"),
                        "[\"x\",[1,{\"a\":\"]\"}],2]", List.of())
                .forEach((key, parts) -> {
                    if (parts.isEmpty()) {
                        assertThat(rides.refusal(change(key, at)).message())
                                .isEqualTo(
                                        "Field key has an element 1 that is not text or a number; it is part of the key");
                    } else {
                        assertThat(rides.keyParts(change(key, at))).isEqualTo(parts);
                    }
                });
        assertThat(rides.refusal(change("7", at)).message())
                .isEqualTo("Field key is not an array; its element 0 is part of the key");
        assertThat(rides.refusal(change("[]", at)).message()).contains("has an element 0 that is missing");
        assertThat(rides.refusal(change("[\"1.0\"]", at)).message())
                .contains("{\"field\":\"key\",\"type\":\"text\",\"element\":0}");
    }

    @Test
    void the_text_of_a_pipeline_has_the_elements() {
        String text = PipelineText.write(RIDES);
        assertThat(text).contains("\"key\":[{\"field\":\"key\",\"element\":0},{\"field\":\"key\",\"missing\":\"-\",");
        assertThat(PipelineText.read(text)).isEqualTo(new Reading.Read(RIDES));
        assertThatThrownBy(() -> PipelineBuilder.named("p")
                        .csv("key")
                        .identity("id", Map.of("field", "key", "element", "0"))
                        .rollup(rollup -> rollup.count("n"))
                        .build())
                .hasMessageContaining("element: is for json only");
    }
}
