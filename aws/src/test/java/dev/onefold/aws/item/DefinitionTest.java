package dev.onefold.aws.item;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class DefinitionTest {
    private static final int TEXTS_MAX = 16;

    private static Pipeline pipeline(String field) {
        return PipelineBuilder.named("parsed-once")
                .key("id")
                .version("v")
                .rollup(rollup -> rollup.levels(field).count("n"))
                .build()
                .inEdition(Edition.NEWEST);
    }

    private static Definition of(String field) {
        return Definition.first(pipeline(field), 2, 64, new Incarnation("i", List.of("a", "b", "c", "d")));
    }

    private static Pipeline loaded(Map<String, AttributeValue> item) {
        return Definition.of(item).servedView().pipeline();
    }

    @Test
    void a_text_is_parsed_once_and_a_changed_one_is_seen_by_the_next_load() {
        Definition stored = of("desk");
        Pipeline parsed = loaded(stored.item());
        assertThat(parsed).isEqualTo(pipeline("desk"));
        assertThat(loaded(stored.item())).as("the same text, in another item").isSameAs(parsed);
        Definition changed = stored.withPipeline(pipeline("trader"));
        assertThat(Definition.of(changed.item())).isEqualTo(changed);
        assertThat(loaded(stored.item())).as("the text before, again").isSameAs(parsed);
    }

    @Test
    void a_text_that_was_not_read_for_long_is_parsed_again() {
        Pipeline parsed = loaded(of("region").item());
        for (int other = 0; other < TEXTS_MAX; other++) {
            assertThat(loaded(of("field" + other).item())).isEqualTo(pipeline("field" + other));
        }
        assertThat(loaded(of("region").item())).isEqualTo(parsed).isNotSameAs(parsed);
    }
}
