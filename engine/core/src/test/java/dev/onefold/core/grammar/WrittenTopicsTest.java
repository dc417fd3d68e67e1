package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Topics of Kafka that a pipeline writes to.
class WrittenTopicsTest {
    private static final String TOTALS =
            "{\"pipeline\":\"p\",\"input\":{},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}},\"publish\":%s}";
    private static final String BATCHES =
            "{\"pipeline\":\"p\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":2,\"order\":\"%s\",\"deliver\":%s}}";
    private static final String TOPIC =
            "{\"kafka\":{\"topic\":\"totals.v1\",\"servers\":\"a:9092,b:9092\",\"properties\":\"k.properties\"}%s}";

    private static String refusal(String text) {
        return String.join("\n", Read.problems(text));
    }

    @Test
    void a_topic_of_totals_is_read_and_written() {
        Pipeline pipeline = Read.pipeline(TOTALS.formatted(TOPIC.formatted(",\"every\":\"5s\"")));
        assertThat(pipeline.publishing()).isInstanceOf(Publishing.Topic.class);
        assertThat(Read.pipeline(PipelineText.write(pipeline))).isEqualTo(pipeline);
    }

    @Test
    void a_topic_of_batches_is_read_and_written_and_is_transactional() {
        Pipeline pipeline = Read.pipeline(BATCHES.formatted("strict", TOPIC.formatted("")));
        Batching batching = (Batching) pipeline.fold();
        assertThat(batching.receiver()).isEqualTo(Batching.Receiver.TRANSACTIONAL);
        assertThat(batching.deliver().target()).containsExactly("totals.v1");
        assertThat(batching.deliver().options())
                .isEqualTo(Map.of("servers", "a:9092,b:9092", "properties", "k.properties"));
        assertThat(Read.pipeline(PipelineText.write(pipeline))).isEqualTo(pipeline);
    }

    @Test
    void what_a_topic_cannot_have_is_refused_with_what_to_write() {
        assertThat(refusal(BATCHES.formatted("any", TOPIC.formatted("")))).contains("write 'order: strict'");
        assertThat(refusal(TOTALS.formatted(TOPIC.formatted(",\"table\":\"t\""))))
                .contains("is not for Kafka", "leave it out");
        assertThat(refusal(TOTALS.formatted("{\"kafka\":{\"topic\":\"t\"}}"))).contains("write where brokers are");
        assertThat(refusal(BATCHES.formatted("strict", "{\"kafka\":{\"servers\":\"a:1\"}}")))
                .contains("write the name of the topic");
    }
}
