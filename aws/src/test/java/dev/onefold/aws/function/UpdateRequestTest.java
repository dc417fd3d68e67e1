package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.Streams;
import dev.onefold.aws.template.Layout;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.FakeClient;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ListShardsRequest;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;

/// What the functions answer to updates of their stack, and to the rollbacks of these.
class UpdateRequestTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final String STREAM = "arn:aws:kinesis:us-east-2:123456789012:stream/trades";
    private static final String CONSUMER = STREAM + "/consumer/fan-out:1";
    private static final String OLDEST = "1";
    private static final Metrics SILENT =
            new Metrics(new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8), "it");

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final String minutesAgo =
            Long.toString(Instant.now().minus(Duration.ofMinutes(10)).getEpochSecond());

    /// A stream from which State has taken all that it keeps.
    private static final class Forgotten implements KinesisAsyncClient, FakeClient {
        @Override
        public CompletableFuture<ListShardsResponse> listShards(ListShardsRequest request) {
            return CompletableFuture.completedFuture(
                    ListShardsResponse.builder().shards(List.of()).build());
        }
    }

    /// One custom resource of a stack, as CloudFormation keeps it.
    private static final class Resource {
        private static final ObjectMapper JSON = new ObjectMapper();

        private final Consumer<byte[]> function;
        private Map<String, String> accepted = Map.of();
        private Map<String, String> requested = Map.of();
        private String name = "";

        Resource(Consumer<byte[]> function) {
            this.function = function;
        }

        /// Makes the resource, or updates it.
        JsonNode update(Map<String, String> properties) throws IOException {
            JsonNode answer = ask(properties, accepted);
            requested = properties;
            return answer;
        }

        /// Ends the update: it is complete.
        void complete() {
            accepted = requested;
        }

        /// The update has failed, here or elsewhere.
        JsonNode rollBack() throws IOException {
            return ask(accepted, requested);
        }

        private JsonNode ask(Map<String, String> now, Map<String, String> before) throws IOException {
            JsonNode answer = JSON.readTree(Questions.ask(
                    function,
                    "\"RequestType\":\"" + (name.isEmpty() ? "Create" : "Update") + "\",\"PhysicalResourceId\":\""
                            + name + "\",\"ResourceProperties\":" + JSON.writeValueAsString(now)
                            + ",\"OldResourceProperties\":" + JSON.writeValueAsString(before)));
            name = answer.get("PhysicalResourceId").asText();
            return answer;
        }
    }

    private static Map<String, String> reading(String input, String from, String factor) {
        return Map.of(
                "Version", "arn:aws:lambda:us-east-2:1:function:s:9", "Input", input, "From", from, "Factor", factor);
    }

    private static Resource stateReady(String name) throws IOException {
        Store store = DYNAMO.store("deploying-" + name);
        StateFunction state = new StateFunction(
                store,
                PIPELINE,
                SILENT,
                () -> new Streams(new Forgotten(), DYNAMO.changes),
                new StateFunction.Setup(new Layout(2, 64), 0));
        Resource resource = new Resource(state::handle);
        assertAccepted(resource.update(reading(STREAM, "0", "1")));
        resource.complete();
        assertThat(new Places(store).order()).isPresent();
        return resource;
    }

    private static void assertAccepted(JsonNode answer) {
        assertThat(answer.get("Status").asText()).as(answer.toString()).isEqualTo("SUCCESS");
    }

    private static void assertRefused(JsonNode answer, String reason) {
        assertThat(answer.get("Status").asText()).isEqualTo("FAILED");
        assertThat(answer.get("Reason").asText()).contains(reason);
    }

    @Test
    void a_rollback_to_a_time_that_was_accepted_is_accepted_though_nothing_proves_it_any_more() throws IOException {
        Resource ready = stateReady("time");
        assertAccepted(ready.update(reading(CONSUMER, minutesAgo, "1")));
        ready.complete();
        assertAccepted(ready.update(reading(CONSUMER, minutesAgo, "4"))); // It ends the order.
        ready.complete();
        for (int attempt = 1; attempt <= 2; attempt++) {
            assertAccepted(ready.update(reading(STREAM, OLDEST, "4"))); // Then another resource fails.
            assertAccepted(ready.rollBack());
            assertThat(ready.name).startsWith("onefold-ready " + CONSUMER + " " + minutesAgo);
        }
        assertRefused(ready.update(reading(STREAM, minutesAgo + "1", "4")), "Nothing proves");
        assertAccepted(ready.rollBack());
    }

    @Test
    void an_update_that_reads_as_before_keeps_the_name_of_the_resource_so_nothing_is_replaced() throws IOException {
        Resource ready = stateReady("name");
        assertAccepted(ready.update(reading(CONSUMER, OLDEST, "1")));
        ready.complete();
        String name = ready.name;
        assertAccepted(ready.update(reading(CONSUMER, OLDEST, "2")));
        assertThat(ready.name).isEqualTo(name).hasSizeLessThan(1_024);
    }

    /// Lambda refuses a second mapping of one input and function, so the update would fail after intake has
    /// changed.
    @Test
    void a_change_of_the_time_alone_is_refused_at_once_and_its_rollback_is_accepted() throws IOException {
        Resource ready = stateReady("alone");
        assertRefused(ready.update(reading(STREAM, OLDEST, "1")), "onefold aws replay");
        assertAccepted(ready.rollBack());
        assertAccepted(ready.update(reading(CONSUMER, minutesAgo, "1")));
        ready.complete();
        assertRefused(ready.update(reading(CONSUMER, "0", "1")), "onefold aws replay");
        assertAccepted(ready.rollBack());
    }

    @Test
    void a_rollback_of_the_last_resource_is_accepted_though_the_tables_do_not_answer() throws IOException {
        Store store = DYNAMO.store("deploying-lost");
        Store.Tables none = new Store.Tables("deploying-none", "deploying-none", "deploying-none", "deploying-none");
        Store lost = new Store(store.client(), none, store.threads(), store.random(), store.clock());
        UpkeepFunction upkeep = new UpkeepFunction(lost, PIPELINE, SILENT);
        Resource serving = new Resource(event -> upkeep.handle(event, () -> true));
        String version = "arn:aws:lambda:us-east-2:1:function:u:";
        serving.name = "onefold-serving";
        serving.accepted = Map.of("Version", version + 9);
        assertRefused(serving.update(Map.of("Version", version + 10)), "It cannot be said");
        assertAccepted(serving.rollBack());
    }
}
