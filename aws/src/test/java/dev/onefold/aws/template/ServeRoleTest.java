package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.serve.Access;
import dev.onefold.aws.serve.UrlHandler;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;

/// What the routes ask of the tables, beside what the role of the function allows.
class ServeRoleTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> ODD = List.of(
            "",
            "counts",
            "status",
            "journal",
            "records?source=s",
            "rows/t1",
            "rows/none",
            "keys/t1",
            "tables",
            "totals",
            "changes",
            "batches",
            "range-sums",
            "nothing");

    private final LocalDynamoDb dynamo = new LocalDynamoDb();
    private final Set<String> asked = new ConcurrentSkipListSet<>();

    /// The same tables, with a note of each action on each.
    private Store noted(Store store) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.isDefault() && arguments != null && arguments[0] instanceof Consumer) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            if (arguments != null && arguments[0] instanceof DynamoDbRequest request) {
                note(method.getName(), request);
            }
            try {
                return method.invoke(store.client(), arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        DynamoDbAsyncClient client = (DynamoDbAsyncClient) Proxy.newProxyInstance(
                ServeRoleTest.class.getClassLoader(), new Class<?>[] {DynamoDbAsyncClient.class}, handler);
        return new Store(client, store.tables(), store.threads(), store.random(), store.clock()).with(store.bucket());
    }

    private void note(String method, DynamoDbRequest request) {
        switch (request) {
            case BatchGetItemRequest reads ->
                reads.requestItems().keySet().forEach(table -> note("BatchGetItem", table));
            case TransactWriteItemsRequest writes -> writes.transactItems().forEach(this::note);
            default ->
                note(
                        method.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + method.substring(1),
                        request.getValueForField("TableName", String.class).orElseThrow());
        }
    }

    private void note(TransactWriteItem item) {
        if (item.put() != null) {
            note("PutItem", item.put().tableName());
        }
        if (item.update() != null) {
            note("UpdateItem", item.update().tableName());
        }
        if (item.delete() != null) {
            note("DeleteItem", item.delete().tableName());
        }
        if (item.conditionCheck() != null) {
            note("ConditionCheckItem", item.conditionCheck().tableName());
        }
    }

    private void note(String action, String table) {
        asked.add(table.substring(table.lastIndexOf('-') + 1) + " dynamodb:" + action);
    }

    private static Set<String> allowed(JsonNode role) {
        Set<String> allowed = new TreeSet<>();
        for (String each : RolesTest.permissions(role).values()) {
            String[] words = each.split(" ", -1);
            for (int i = 1; i < words.length; i++) {
                allowed.add(words[0].toLowerCase(java.util.Locale.ROOT) + " " + words[i]);
            }
        }
        return allowed;
    }

    private static int status(UrlHandler serving, String target) throws IOException {
        int mark = target.indexOf('?');
        ObjectNode event = JSON.createObjectNode()
                .put("rawPath", mark < 0 ? target : target.substring(0, mark))
                .put("rawQueryString", mark < 0 ? "" : target.substring(mark + 1));
        ObjectNode context = event.putObject("requestContext");
        context.putObject("http").put("method", "GET");
        context.putObject("authorizer").putObject("iam").put("accountId", "123456789012");
        return serving.answer(JSON.writeValueAsBytes(event), () -> Duration.ofSeconds(20))
                .status();
    }

    private void ask(Store store, Pipeline pipeline, Map<String, Integer> expected) throws IOException {
        UrlHandler serving = new UrlHandler(noted(store), pipeline, new Access.Signed(), null);
        for (String route : ODD) {
            assertThat(status(serving, "/v1/" + pipeline.name() + "/" + route))
                    .as(route)
                    .isLessThan(500);
        }
        for (Map.Entry<String, Integer> each : expected.entrySet()) {
            assertThat(status(serving, "/v1/" + pipeline.name() + each.getKey()))
                    .as(each.getKey())
                    .isEqualTo(each.getValue());
        }
    }

    private static List<Arrival> arrivals(String... records) {
        List<Arrival> arrivals = new ArrayList<>();
        for (String record : records) {
            arrivals.add(new Arrival(
                    "s", String.valueOf(arrivals.size() + 1), 0, record.getBytes(StandardCharsets.UTF_8), 1_000));
        }
        return arrivals;
    }

    @Test
    void the_routes_of_totals_need_no_more_than_the_role_allows() throws IOException {
        Pipeline pipeline = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(rollup -> rollup.levels("desk", "book").count("trades"))
                .build();
        Store store = dynamo.store("serverole-totals");
        AwsEngine engine = AwsEngine.open(store, pipeline, 2, 4);
        StateAndMap.process(
                store,
                arrivals(
                        "{\"id\":\"t1\",\"v\":1,\"desk\":\"d\",\"book\":\"b\"}",
                        "{\"id\":\"t2\",\"v\":1,\"desk\":\"e\",\"book\":\"b\"}",
                        "no event"));
        engine.reduce();
        StateAndMap.process(store, arrivals("{\"id\":\"t3\",\"v\":1,\"desk\":\"d\",\"book\":\"c\"}"));
        ask(store, pipeline, Map.of("", 200, "/totals", 200, "/totals?limit=1", 200, "/rows/t1", 200, "/counts", 200));
        assertThat(allowed(Pipelines.template(Input.NEW_STREAM, Service.READ).resource("ServeRole")))
                .containsAll(asked);
        assertThat(asked).anyMatch(each -> each.startsWith("totals"));
    }

    @Test
    void the_routes_of_batches_need_no_more_than_the_role_allows() throws IOException {
        Pipeline pipeline =
                Pipelines.batches("{\"http\":\"https://host/x\"},\"receiver\":\"idempotent\",\"wait\":\"1h\"");
        Store store = dynamo.store("serverole-batches");
        BatchDefinition.openOrCreate(store, pipeline, 4);
        new Collect(store, pipeline, 4)
                .collect(arrivals(Stream.concat(
                                Stream.iterate(1, i -> i <= 20, i -> i + 1).map(i -> "{\"id\":" + i + "}"),
                                Stream.of("no event"))
                        .toArray(String[]::new)));
        AwsBatchEngine.deployed(store).batches().seal();
        new Collect(store, pipeline, 4).collect(arrivals("{\"id\":\"open\"}"));
        ask(
                store,
                pipeline,
                Map.of(
                        "",
                        200,
                        "/batches",
                        200,
                        "/batches/list",
                        200,
                        "/batches/list?open=true&limit=1",
                        200,
                        "/batches/1",
                        200,
                        "/batches/99",
                        404,
                        "/batches/x",
                        400,
                        "/batches/1/content",
                        403,
                        "/counts",
                        200,
                        "/totals",
                        400));
        JsonNode role = new ReadTemplate(BatchTemplate.of(pipeline, BatchTemplate.Input.NEW_QUEUE, Service.WRITE)
                        .yaml())
                .resource("ServeRole");
        assertThat(allowed(role)).containsAll(asked);
        assertThat(asked).anyMatch(each -> each.startsWith("deltas"));
    }
}
