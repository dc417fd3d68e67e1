package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Events inside of what carries them.
class EnvelopesTest {
    private static Decoding inside(String... fields) {
        return Decoding.of(PipelineBuilder.named("p")
                .unwrap(fields)
                .rollup(rollup -> rollup.levels("town").sum("value", "v", 18, 2)));
    }

    private static String wrapped(String name, Object event) {
        Map<String, Object> envelope = new LinkedHashMap<>();
        envelope.put("Type", "Notification");
        envelope.put(name, event);
        envelope.put("v", 7);
        return Json.of(envelope);
    }

    private static final String EVENT = "{\"town\":\"a \\\"quoted\\\" \\\\ [ü😀]\",\"v\":\"1.50\"}";

    @Test
    void an_event_is_read_from_a_text_that_holds_it() {
        Decoding plain = Decoding.of(PipelineBuilder.named("p")
                .rollup(rollup -> rollup.levels("town").sum("value", "v", 18, 2)));
        assertThat(inside("Message").group(wrapped("Message", EVENT))).isEqualTo(plain.group(EVENT));
        assertThat(inside("Message").number(wrapped("Message", EVENT))).isEqualTo(plain.number(EVENT));
    }

    @Test
    void an_event_is_read_from_an_object_and_through_several_layers() {
        String object = "{\"detail\":" + EVENT + ",\"v\":9}";
        assertThat(inside("detail").number(object)).isEqualByComparingTo("1.50");
        String twice = wrapped("Message", wrapped("detail", EVENT));
        assertThat(inside("Message", "detail").number(twice)).isEqualByComparingTo("1.50");
        String deep = wrapped("Message", "{\"Records\":{\"body\":" + Json.of(EVENT) + "}}");
        assertThat(inside("Message", "Records.body").number(deep)).isEqualByComparingTo("1.50");
    }

    @Test
    void one_event_after_the_other_leaves_nothing_behind() {
        Decoding decoding = inside("Message");
        assertThat(decoding.number(wrapped("Message", EVENT))).isEqualByComparingTo("1.50");
        assertThat(decoding.refusal(wrapped("Message", "{\"town\":\"b\"}")).message())
                .contains("Field v is missing");
        assertThat(decoding.number(wrapped("Message", "{\"v\":2,\"town\":\"b\"}")))
                .isEqualByComparingTo("2");
    }

    @Test
    void a_record_without_an_event_inside_is_refused() {
        assertThat(inside("Message").refusal(EVENT).message())
                .contains("Field Message is missing; the event is inside of it");
        for (Object other : new Object[] {1, true}) {
            assertThat(inside("Message").refusal(wrapped("Message", other)).message())
                    .contains("Field Message is neither an object nor a text");
        }
        assertThat(inside("Message").refusal(wrapped("Message", "{\"v\":")).reason())
                .isEqualTo(Reason.MALFORMED);
        assertThat(inside("Message").refusal(wrapped("Message", "plain")).reason())
                .isEqualTo(Reason.MALFORMED);
        assertThat(inside("Message").refusal("{\"Message\":[" + EVENT + "]}").reason())
                .isEqualTo(Reason.MALFORMED);
        assertThat(inside("Message").refusal("{\"Message\":{},\"Message\":{}}").reason())
                .isEqualTo(Reason.MALFORMED);
    }
}
