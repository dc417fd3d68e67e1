package dev.onefold.aws.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.aws.Connection;
import dev.onefold.aws.event.UrlRequest;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What is answered about lines that a queue never takes.
class RefusedLinesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("orders")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").count("orders"))
            .build();

    private final Sends queue = new Sends();

    private JsonNode post(String lines) throws IOException {
        UrlRequest asked =
                new UrlRequest("POST", "/v1/orders/records", Map.of(), lines.getBytes(StandardCharsets.UTF_8), true);
        RequestRecords records = new RequestRecords(
                PIPELINE, new QueueIntake(() -> queue, Sends.URL, Connection.THREADS, new SecureRandom()));
        Response response;
        try {
            response = records.take(asked, Request.of("POST", asked.target(), new byte[0]), Duration.ofSeconds(20));
        } catch (Refused refused) {
            response = refused.response();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        response.body().writeTo(bytes);
        return new ObjectMapper().readTree(bytes.toByteArray());
    }

    @Test
    void no_line_that_is_in_is_said_to_be_refused_however_many_are() throws IOException {
        JsonNode answer = post("{}\n\n".repeat(1_500));
        assertThat(answer.path("status").asInt()).isEqualTo(422);
        assertThat(answer.path("put").asInt()).isEqualTo(1_500);
        assertThat(answer.path("refused")).hasSize(1_000);
        answer.path("refused").forEach(range -> {
            assertThat(range.get(0)).isEqualTo(range.get(1));
            assertThat(range.get(0).asLong() % 2).isZero(); // The empty ones.
        });
        assertThat(answer.path("detail").asText()).contains("1500 lines");
    }

    @Test
    void more_lines_than_the_memory_holds_are_refused_before_one_is_put() throws IOException {
        JsonNode answer = post("{}\n" + "\n".repeat(RequestRecords.LINES_MAX));
        assertThat(answer.path("status").asInt()).isEqualTo(413);
        assertThat(answer.path("detail").asText()).contains("1000000 lines", "several requests");
        assertThat(queue.taken).isEmpty();
    }
}
