package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The parts of an event that are read depend on its kind: a delete needs key and version, a filtered one no
/// groups.
class KindsTest {
    private static final Decoding DECODING = Decoding.of(PipelineBuilder.named("p")
            .key("id")
            .version("v")
            .time("at")
            .delete("op = \"delete\"")
            .filter("status != \"TEST\"")
            .rollup(r -> r.levels("region").sum("s", "value", 18, 2).distinct("d", "who")));

    private static Event.Kind kind(String fields) {
        return DECODING.kind("{\"id\":\"a\",\"v\":1" + fields + "}");
    }

    private static String refused(String fields) {
        return DECODING.refusal("{\"id\":\"a\",\"v\":1" + fields + "}").message();
    }

    @Test
    void a_delete_reads_only_key_and_version() {
        assertThat(kind(",\"op\":\"delete\"")).isEqualTo(Event.Kind.DELETE);
        assertThat(
                        kind(
                                ",\"op\":\"delete\",\"at\":\"never\",\"status\":[],\"region\":{},\"value\":\"much\",\"who\":[]"))
                .isEqualTo(Event.Kind.DELETE);
        assertThat(DECODING.event("{\"id\":\"a\",\"v\":1,\"op\":\"delete\",\"at\":500000000}").timeMs)
                .isEqualTo(Long.MIN_VALUE);
        assertThat(DECODING.key("{\"id\":\"a\",\"v\":9,\"op\":\"delete\"}")).isEqualTo("a");
        assertThat(DECODING.version("{\"id\":\"a\",\"v\":9,\"op\":\"delete\"}")).isEqualTo(9);
    }

    @Test
    void a_delete_without_key_or_version_is_refused() {
        assertThat(DECODING.refusal("{\"v\":1,\"op\":\"delete\"}").message()).startsWith("Field id is missing");
        assertThat(DECODING.refusal("{\"id\":1,\"op\":\"delete\"}").message()).startsWith("Field v is missing");
        assertThat(DECODING.refusal("{\"id\":1,\"v\":1.5,\"op\":\"delete\"}").message())
                .startsWith("Field v is '1.5'");
    }

    @Test
    void a_filtered_record_needs_no_groups_and_no_amounts() {
        assertThat(kind(",\"at\":500000000,\"status\":\"TEST\"")).isEqualTo(Event.Kind.FILTERED);
        assertThat(kind(",\"at\":500000000,\"status\":\"TEST\",\"region\":{},\"value\":\"much\",\"who\":[]"))
                .isEqualTo(Event.Kind.FILTERED);
        assertThat(kind(",\"at\":500000000"))
                .as("a comparison with a missing field")
                .isEqualTo(Event.Kind.FILTERED);
        assertThat(DECODING.event("{\"id\":\"a\",\"v\":1,\"at\":500000000,\"status\":\"TEST\"}").timeMs)
                .isEqualTo(500_000_000_000L);
        assertThat(refused(",\"status\":\"TEST\"")).isEqualTo("Field at is missing; it is a time");
    }

    @Test
    void a_field_that_only_the_condition_of_deletes_reads_is_read() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                .key("k")
                .version("v")
                .delete("a.b = \"x\"")
                .rollup(r -> r.count("n")));
        assertThat(decoding.kind("{\"k\":1,\"v\":1,\"a\":{\"b\":\"x\"}}")).isEqualTo(Event.Kind.DELETE);
        assertThat(decoding.kind("{\"k\":1,\"v\":1,\"a\":{\"b\":\"y\"}}")).isEqualTo(Event.Kind.COUNTED);
    }

    @Test
    void a_delete_is_one_whatever_the_filter_says() {
        assertThat(kind(",\"op\":\"delete\",\"status\":\"TEST\"")).isEqualTo(Event.Kind.DELETE);
    }

    @Test
    void a_counted_record_needs_all_that_the_roll_ups_read() {
        String full = ",\"at\":500000000,\"status\":\"\",\"region\":\"EMEA\",\"value\":1,\"who\":\"x\"";
        assertThat(kind(full)).isEqualTo(Event.Kind.COUNTED);
        assertThat(refused(full.replace("region", "r"))).startsWith("Field region is missing");
        assertThat(refused(full.replace("value", "r"))).startsWith("Field value is missing");
        assertThat(refused(full.replace("who", "r"))).startsWith("Field who is missing");
        assertThat(refused(full.replace("at\":500000000", "at\":\"500000000\"")))
                .startsWith("Field at is '500000000', which is not a time");
    }

    @Test
    void a_kind_has_a_number_in_files_and_their_order_is_that_of_conflicts() {
        for (Event.Kind kind : Event.Kind.values()) {
            assertThat(Event.Kind.of(kind.code())).isEqualTo(kind);
        }
        assertThat(List.of(Event.Kind.FILTERED, Event.Kind.COUNTED, Event.Kind.DELETE))
                .isSorted();
        assertThatThrownBy(() -> Event.Kind.of(3)).hasMessage("There is no kind of event 3");
    }

    @Test
    void an_excerpt_in_a_message_is_short_and_shows_no_control_characters() {
        String message = DECODING.refusal(
                        "{\"id\":\"a\",\"v\":\"\u001b\"}".replace("\u001b", "\u007f" + "x".repeat(99)))
                .message();
        assertThat(message)
                .isEqualTo("Field v is '\uFFFD" + "x".repeat(39) + "…', which is not an integer; it is the version");
        String whole = DECODING.refusal("{\"id\":\"a\",\"v\":\"" + "~ ".repeat(20) + "\"}")
                .message();
        assertThat(whole).startsWith("Field v is '" + "~ ".repeat(20) + "', which");
    }
}
