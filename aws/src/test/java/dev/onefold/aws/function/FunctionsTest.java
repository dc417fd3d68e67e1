package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Layout;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class FunctionsTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk").sum("value", "value", 18, 2).count("trades"))
            .build();

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");

    private interface Handler {
        void handle(ByteArrayInputStream in, ByteArrayOutputStream out) throws IOException;
    }

    private static String invoke(Handler handler, String event) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        handler.handle(new ByteArrayInputStream(event.getBytes(StandardCharsets.UTF_8)), out);
        return out.toString(StandardCharsets.UTF_8);
    }

    /// Few gates, because the stand-in takes its time for each.
    private StateFunction state(Store store, Pipeline pipeline) {
        return new StateFunction(
                store, pipeline, metrics, Connection.streams(), new StateFunction.Setup(new Layout(8, 64), 0));
    }

    private static String kinesis(List<String> records) {
        List<String> items = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            items.add("""
                    {"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"p","sequenceNumber":"%1$d","data":"%2$s",\
                    "approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis","eventVersion":"1.0",\
                    "eventID":"shardId-000000000006:%1$d","eventName":"aws:kinesis:record","awsRegion":"us-east-2",\
                    "invokeIdentityArn":"arn:aws:iam::123456789012:role/r",\
                    "eventSourceARN":"arn:aws:kinesis:us-east-2:123456789012:stream/trades"}""".formatted(
                    i + 1, Base64.getEncoder().encodeToString(records.get(i).getBytes(StandardCharsets.UTF_8))));
        }
        return "{\"Records\":[" + String.join(",", items) + "]}";
    }

    private static String trade(String id, int version, String desk, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":%s}".formatted(id, version, desk, value);
    }

    private static List<String> totals(Store store) {
        return AwsEngine.deployed(store).query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    /// What the deltas' stream tells of what stands there now.
    private static String wake(Store store) {
        List<String> items = new ArrayList<>();
        Consumer<java.util.Map<String, AttributeValue>> add =
                item -> items.add("""
                {"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb",\
                "awsRegion":"us-east-2","dynamodb":{"Keys":{"i":{"S":"%s"},"l":{"S":"%s"}},"SequenceNumber":"111",\
                "SizeBytes":26,"StreamViewType":"KEYS_ONLY"},"eventSourceARN":\
                "arn:aws:dynamodb:us-east-2:123456789012:table/t/stream/2026-01-01T00:00:00.000"}""".formatted(item.get("i").s(), item.get("l").s()));
        store.client()
                .scan(request -> request.tableName(store.tables().deltas()))
                .join()
                .items()
                .forEach(add);
        return "{\"Records\":[" + String.join(",", items) + "]}";
    }

    @Test
    void what_kinesis_delivers_is_in_the_totals_once_the_deltas_have_woken_reduce() throws IOException {
        Store store = DYNAMO.store("woken");
        StateFunction state = state(store, PIPELINE);
        ReduceFunction reduce = new ReduceFunction(store, metrics);
        String event = kinesis(List.of(
                trade("a", 1, "FX", "1.10"), trade("b", 1, "FX", "2"), "poison", trade("a", 2, "Rates", "4.00")));
        assertThat(invoke((in, out) -> state.handleRequest(in, out, null), event))
                .isEqualTo("{\"batchItemFailures\":[]}");
        invoke((in, out) -> state.handleRequest(in, out, null), event);
        assertThat(totals(store)).containsExactly("=[0.00, 0]");
        invoke((in, out) -> reduce.handleRequest(in, out, null), wake(store));
        assertThat(totals(store)).containsExactly("=[6.00, 2]", "FX=[2.00, 1]", "Rates=[4.00, 1]");
        assertThat(AwsEngine.deployed(store).deadLetters().list(0, 9))
                .singleElement()
                .satisfies(letter -> assertThat(letter.place().source()).isEqualTo("trades/shardId-000000000006:3"));
        Store untold = store.with(new Store.Bucket(() -> DYNAMO.bucket, Optional.empty()));
        StateAndMap.process(untold, List.of(new Arrival("s", "1", 0, new byte[1]))); // State told it the bucket.
        assertThat(AwsEngine.deployed(untold).deadLetters().size()).isEqualTo(2);
    }

    @Test
    void a_silent_record_is_counted_under_its_cause_as_often_as_in_the_sum() throws IOException {
        Store store = DYNAMO.store("silent");
        Pipeline orders = PipelineBuilder.named("orders")
                .debezium("public.orders")
                .key("id")
                .rollup(r -> r.count("orders"))
                .build();
        StateFunction state = state(store, orders);
        String crew = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"public\",\"table\":\"crew\"}}";
        String event = kinesis(List.of(crew, "null", "poison", crew));
        invoke((in, out) -> state.handleRequest(in, out, null), event);
        AwsEngine engine = AwsEngine.deployed(store);
        assertThat(engine.causes().counts())
                .isEqualTo(java.util.Map.of("silent: of public.crew", 2L, "silent: tombstone", 1L));
        invoke((in, out) -> state.handleRequest(in, out, null), event); // Not counted yet: it is the same minute.
        assertThat(engine.counts().silent()).isEqualTo(3);
        StateFunction other = state(store, orders); // The event comes again, to another process.
        invoke((in, out) -> other.handleRequest(in, out, null), event);
        assertThat(engine.counts().silent()).isEqualTo(6);
        assertThat(engine.causes().counts())
                .isEqualTo(java.util.Map.of("silent: of public.crew", 4L, "silent: tombstone", 2L));
    }

    @Test
    void the_log_says_where_a_batch_lies_in_its_shard_and_nothing_of_what_is_in_it() throws IOException {
        Store store = DYNAMO.store("placed");
        StateFunction state = state(store, PIPELINE);
        String event = kinesis(
                List.of(trade("secret-key", 1, "secret-desk", "98765.43"), "secret poison", trade("b", 1, "FX", "2")));
        invoke((in, out) -> state.handleRequest(in, out, null), event);
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("INFO Batch of 3 records of trades/shardId-000000000006 from 1 to 3")
                .doesNotContain("secret", "98765");
    }

    @Test
    void totals_are_right_when_invocations_fail_before_and_after_what_they_write() throws IOException {
        Store store = DYNAMO.store("failing");
        StateFunction state = new StateFunction(
                store, PIPELINE, metrics, Connection.streams(), new StateFunction.Setup(new Layout(8, 64), 500_000));
        ReduceFunction reduce = new ReduceFunction(store, metrics, 500_000);
        for (int i = 1; i <= 20; i++) {
            String event = kinesis(List.of(trade("t" + i, 1, "FX", "1.00")));
            untilItAnswers((in, out) -> state.handleRequest(in, out, null), event);
            untilItAnswers((in, out) -> reduce.handleRequest(in, out, null), wake(store));
        }
        assertThat(totals(store)).containsExactly("=[20.00, 20]", "FX=[20.00, 20]");
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("InjectedFailures");
    }

    /// As a mapping does: the same event again, until it is taken.
    private static void untilItAnswers(Handler handler, String event) throws IOException {
        for (int attempt = 1; attempt <= 100; attempt++) {
            try {
                invoke(handler, event);
                return;
            } catch (IllegalStateException onPurpose) {
                assertThat(onPurpose).hasMessageContaining("fails on purpose");
            }
        }
        throw new AssertionError("Half of the invocations should succeed");
    }

    private static Pipeline changed(String level) {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> (level.isEmpty() ? r : r.levels(level)).count("trades"))
                .build();
    }

    private String upkeep(Store store, Pipeline pipeline, String event) {
        log.reset();
        new UpkeepFunction(store, pipeline, metrics).handle(event.getBytes(StandardCharsets.UTF_8), () -> true);
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    void a_changed_pipeline_is_filled_from_the_rows_and_serves_while_functions_of_the_old_one_still_run()
            throws IOException {
        Store store = DYNAMO.store("changed");
        StateFunction old = state(store, PIPELINE);
        invoke((in, out) -> old.handleRequest(in, out, null), kinesis(List.of(trade("a", 1, "FX", "1.10"))));
        Pipeline changed = changed("");
        StateFunction fresh = state(store, changed);
        invoke((in, out) -> fresh.handleRequest(in, out, null), kinesis(List.of(trade("b", 1, "FX", "2"))));
        AwsEngine.deployed(store).reduce();
        assertThat(totals(store)).containsExactly("=[3.10, 2]", "FX=[3.10, 2]");
        assertThat(upkeep(store, changed, "{}")).contains("serve from now on").doesNotContain("PipelineRefused");
        assertThat(totals(store)).containsExactly("=[2]");
        invoke((in, out) -> old.handleRequest(in, out, null), kinesis(List.of(trade("c", 1, "FX", "1"))));
        AwsEngine.deployed(store).reduce();
        assertThat(totals(store)).containsExactly("=[3]");
        assertThat(partitions(store)).anyMatch(partition -> partition.startsWith("1/"));
        upkeep(store, changed, "{}");
        assertThat(partitions(store)).allMatch(partition -> partition.startsWith("2/") || partition.equals("headers"));
        assertThat(upkeep(store, changed, "{\"audit\": 1}"))
                .contains("\"AuditDifferences\":0", "Audit of 1 leaf groups, recomputed from 3 rows: 0 differ");
    }

    @Test
    void a_pipeline_that_the_rows_do_not_hold_is_refused_with_the_reason_and_the_one_before_goes_on()
            throws IOException {
        Store store = DYNAMO.store("refused");
        StateFunction state = state(store, PIPELINE);
        invoke((in, out) -> state.handleRequest(in, out, null), kinesis(List.of(trade("a", 1, "FX", "1.10"))));
        AwsEngine.deployed(store).reduce();
        assertThat(upkeep(store, changed("region"), "{}"))
                .contains("\"PipelineRefused\":1", "ERROR", "level region of roll-up main was not read before");
        assertThat(totals(store)).containsExactly("=[1.10, 1]", "FX=[1.10, 1]");
        assertThat(upkeep(store, PIPELINE, "{}")).doesNotContain("PipelineRefused");
    }

    @Test
    void an_audit_names_how_many_groups_differ_from_the_rows() throws IOException {
        Store store = DYNAMO.store("audited");
        StateFunction state = state(store, PIPELINE);
        invoke((in, out) -> state.handleRequest(in, out, null), kinesis(List.of(trade("a", 1, "FX", "1.10"))));
        AwsEngine.deployed(store).reduce();
        var item = store
                .client()
                .scan(request -> request.tableName(store.tables().totals()))
                .join()
                .items()
                .stream()
                .filter(each -> each.containsKey("s0"))
                .findFirst()
                .orElseThrow();
        store.client()
                .updateItem(request -> request.tableName(store.tables().totals())
                        .key(java.util.Map.of("p", item.get("p"), "g", item.get("g")))
                        .updateExpression("ADD s0 :one")
                        .expressionAttributeValues(java.util.Map.of(":one", AttributeValue.fromN("1"))))
                .join();
        assertThat(upkeep(store, PIPELINE, "{\"audit\": 1}")).contains("\"AuditDifferences\":1", "ERROR Audit");
    }

    private static List<String> partitions(Store store) {
        return store.client().scan(request -> request.tableName(store.tables().totals())).join().items().stream()
                .map(item -> item.get("p").s())
                .toList();
    }

    private static String change(String kind, int sequence, String id, String restaurant) {
        String image = "{\"id\":{\"S\":\"%s\"},\"restaurant\":{\"S\":\"%s\"}}".formatted(id, restaurant);
        return """
                {"eventID":"e%2$d","eventName":"%1$s","eventVersion":"1.1","eventSource":"aws:dynamodb",\
                "awsRegion":"us-east-2","dynamodb":{"ApproximateCreationDateTime":1700000000,\
                "Keys":{"id":{"S":"%3$s"}},%4$s"SequenceNumber":"%2$d","SizeBytes":26,\
                "StreamViewType":"NEW_AND_OLD_IMAGES"},"eventSourceARN":\
                "arn:aws:dynamodb:us-east-2:123456789012:table/favourites/stream/2026-01-01T00:00:00.000"}""".formatted(kind, sequence, id, kind.equals("REMOVE") ? "" : "\"NewImage\":" + image + ",");
    }

    @Test
    void inserts_changes_and_removals_of_a_table_are_counted_whatever_comes_again_and_in_whatever_order()
            throws IOException {
        Store store = DYNAMO.store("favourites");
        Pipeline favourites = PipelineBuilder.named("favourites")
                .key("Keys.id")
                .version("SequenceNumber")
                .delete("eventName = \"REMOVE\"")
                .rollup(r -> r.levels("NewImage.restaurant").count("favourites"))
                .build();
        StateFunction state = state(store, favourites);
        List<String> changes = List.of(
                change("INSERT", 100, "a", "Roma"),
                change("INSERT", 200, "b", "Roma"),
                change("MODIFY", 300, "b", "Sushi"),
                change("INSERT", 400, "c", "Roma"),
                change("REMOVE", 500, "a", ""));
        for (List<String> batch : List.of(changes, changes.reversed(), changes.subList(0, 2))) {
            invoke((in, out) -> state.handleRequest(in, out, null), "{\"Records\":[" + String.join(",", batch) + "]}");
        }
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        assertThat(totals(store)).containsExactly("=[2]", "Roma=[1]", "Sushi=[1]");
        assertThat(engine.verify().isEqual()).isTrue();
        assertThat(engine.deadLetters().size()).isZero();
    }

    @Test
    void each_minute_all_lanes_are_swept_and_the_lag_is_told_first() throws IOException {
        Store store = DYNAMO.store("swept");
        ReduceFunction reduce = new ReduceFunction(store, metrics);
        invoke((in, out) -> reduce.handleRequest(in, out, null), "{}");
        assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("OldestDeltaMs");
        StateFunction state = state(store, PIPELINE);
        invoke((in, out) -> state.handleRequest(in, out, null), kinesis(List.of(trade("a", 1, "FX", "1.10"))));
        invoke((in, out) -> reduce.handleRequest(in, out, null), "{}");
        assertThat(totals(store)).containsExactly("=[1.10, 1]", "FX=[1.10, 1]");
        List<String> lines = log.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines.getLast()).contains("\"DelayMs\":{\"Values\":[");
        assertThat(lines.get(lines.size() - 2))
                .contains("\"Namespace\":\"Onefold\"", "\"Dimensions\":[[\"Stack\"]]", "\"Stack\":\"stack\"")
                .containsPattern("\"OldestDeltaMs\":[0-9]+}");
    }
}
