package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.Connection;
import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The service of batches as a function: records go through the URL into the queue, and come out in batches that the
/// URL lists.
@Tag("campaign")
@Timeout(600)
class BatchServeEndToEndTest {
    private static final String SIGNED = "AWS4-HMAC-SHA256 Credential=OPERATOR/20261124/local/lambda/aws4_request, x";
    private static final int RECORDS = 250;
    private static final int SIZE = 125;

    private final HttpClient client = HttpClient.newHttpClient();

    private static Pipeline pipeline(String address) {
        return ((Reading.Read)
                        PipelineText.read(
                                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},"
                                        + "\"batch\":{\"size\":" + SIZE + ",\"wait\":\"1h\",\"deliver\":{\"http\":\""
                                        + address
                                        + "\",\"timeout\":\"10s\"},\"receiver\":\"idempotent\",\"retry\":{\"delays\":[\"1s\"],\"for\":\"1h\"}}}"))
                .pipeline();
    }

    private HttpResponse<String> send(URI url, String target, String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(target));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(
                (body.isEmpty() ? request : request.POST(BodyPublishers.ofString(body))).build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> asked(URI url, String target, String body) throws IOException, InterruptedException {
        return send(url, target, body, "Authorization", SIGNED);
    }

    private static String lines(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> "{\"id\":\"m" + i + "\"}\n")
                .collect(Collectors.joining());
    }

    @Test
    void what_goes_in_through_the_url_is_in_one_batch_each_and_the_url_lists_them() throws Exception {
        try (Drop drop = new Drop();
                LocalDeployment deployment = LocalDeployment.open(
                        "orders",
                        BatchTemplate.of(pipeline(drop.address()), BatchTemplate.Input.NEW_QUEUE, Service.WRITE)
                                .yaml(),
                        Map.of("MaximumBatchingWindow", "1", "Lanes", "4", "ServeTimeout", "300"),
                        Parts.machine(2),
                        StackFaults.NONE)) {
            URI url = URI.create(deployment.outputs().get("ServeUrl"));
            assertThat(send(url, "/v1", "").statusCode()).isEqualTo(403);
            assertThat(asked(url, "/v1/orders/batches", "").body()).contains("No record has come");
            assertThat(asked(url, "/v1/orders/records", lines(0, 200)).body()).isEqualTo("{\"put\":200}\n");
            assertThat(asked(url, "/v1/orders/records", lines(100, RECORDS)).statusCode())
                    .isEqualTo(202);
            assertThat(asked(url, "/v1/orders/records", "no event\n\n").statusCode())
                    .isEqualTo(422);
            while (drop.batches().values().stream().mapToInt(List::size).sum() < RECORDS) {
                Connection.THREADS.pause(Duration.ofMillis(200));
            }
            while (!asked(url, "/v1/orders/batches", "").body().contains("\"done\":2")) {
                Connection.THREADS.pause(Duration.ofMillis(200));
            }
            assertThat(drop.wrong()).isEmpty();
            TreeSet<String> records = new TreeSet<>();
            drop.batches().values().forEach(records::addAll);
            assertThat(String.join("\n", records) + "\n")
                    .isEqualTo(lines(0, RECORDS).lines().sorted().collect(Collectors.joining("\n")) + "\n");
            HttpResponse<String> listed = asked(url, "/v1/orders/batches/list", "");
            assertThat(listed.statusCode()).as(listed.body()).isEqualTo(200);
            JsonNode list = new ObjectMapper().readTree(listed.body());
            assertThat(list.findValues("records").stream()
                            .filter(JsonNode::isInt)
                            .mapToInt(JsonNode::asInt)
                            .sum())
                    .as(listed.body())
                    .isEqualTo(RECORDS);
            assertThat(asked(url, "/v1/orders/batches/2", "").statusCode()).isEqualTo(200);
            assertThat(asked(url, "/v1/orders/batches/3", "").statusCode()).isEqualTo(404);
            assertThat(asked(url, "/v1/orders/totals", "").body()).contains("makes batches");
            assertThat(asked(url, "/v1/orders/dead-letters", "").statusCode()).isEqualTo(403);
            assertThat(asked(url, "/v1/orders/counts", "").statusCode()).isEqualTo(200);
            assertThat(EndToEnd.unused(deployment).stream().filter(each -> each.startsWith("ServeRole")))
                    .containsExactly("ServeRole Chunks s3:GetObject"); // No batch was divided.
            assertThat(deployment.usage().refused()).isEmpty();
        }
    }
}
