package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.function.CollectFunction;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// Messages of the retry queue, through the function, on DynamoDB Local.
class RetriesTest {
    private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk").count("trades"))
            .build();

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final FakeStream stream = new FakeStream(new SplittableRandom(7), 0.1);

    private String invoke(Store store, Pipeline pipeline, String... messages) {
        return invoke(store, pipeline, new Streams(stream, DYNAMO.changes), messages);
    }

    private String invoke(Store store, Pipeline pipeline, Streams streams, String... messages) {
        Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");
        StateFunction state = new StateFunction(store, pipeline, metrics, () -> streams);
        byte[] event = event(messages).getBytes(StandardCharsets.UTF_8);
        return new String(state.handle(event), StandardCharsets.UTF_8);
    }

    private static String event(String... messages) {
        List<String> records = new ArrayList<>();
        for (String body : messages) {
            records.add("{\"messageId\":\"m%d\",\"eventSource\":\"aws:sqs\",\"body\":\"%s\"}"
                    .formatted(records.size() + 1, body.replace("\"", "\\\"")));
        }
        return "{\"Records\":[" + String.join(",", records) + "]}";
    }

    private static String message(String kind, String arn, String shard, String first, String last) {
        return ("{\"requestContext\":{\"condition\":\"RetryAttemptsExhausted\"},\"%s\":{\"shardId\":\"%s\","
                        + "\"startSequenceNumber\":\"%s\",\"endSequenceNumber\":\"%s\",\"streamArn\":\"%s\"}}")
                .formatted(kind, shard, first, last, arn);
    }

    private static String message(String shard, String first, String last) {
        return message("KinesisBatchInfo", FakeStream.ARN, shard, first, last);
    }

    private static byte[] trade(String id, String desk) {
        return "{\"id\":\"%s\",\"v\":1,\"desk\":\"%s\"}".formatted(id, desk).getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> totals(Store store) {
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    private static List<DeadLetter> letters(Store store) {
        return AwsEngine.deployed(store).deadLetters().list(0, 100);
    }

    @Test
    void the_records_that_a_message_names_are_read_again_and_counted_once() {
        Store store = DYNAMO.store("named");
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        List<String> sequences = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            sequences.add(shard.add(i, START, i == 150 ? new byte[] {'x'} : trade("t" + i, "FX")));
        }
        String message = message("shardId-000000000000", sequences.get(100), sequences.get(199));
        assertThat(invoke(store, PIPELINE, message)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(invoke(store, PIPELINE, message, message)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(totals(store)).containsExactly("=[99]", "FX=[99]");
        assertThat(letters(store))
                .singleElement()
                .satisfies(letter -> assertThat(letter.place().source())
                        .isEqualTo("trades/shardId-000000000000:" + sequences.get(150)));
    }

    @Test
    void the_records_that_a_message_names_are_read_again_and_each_is_in_one_batch() {
        Store store = DYNAMO.store("collected");
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        List<String> sequences = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            sequences.add(shard.add(i, START, trade("t" + i % 80, "FX")));
        }
        String text = "{\"pipeline\":\"trades\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":"
                + "{\"size\":100,\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"once\"}}";
        Pipeline batches = ((Reading.Read) PipelineText.read(text)).pipeline();
        Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");
        CollectFunction collect = new CollectFunction(
                store,
                batches,
                2,
                metrics,
                new CollectFunction.Source(
                        Duration.ofDays(7), Optional.of(() -> new Streams(stream, DYNAMO.changes)), Optional.empty()));
        String message = message("shardId-000000000000", sequences.get(100), sequences.get(199));
        byte[] event = event(message, message).getBytes(StandardCharsets.UTF_8);
        assertThat(new String(collect.handle(event), StandardCharsets.UTF_8)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(new AwsBatches(store, BatchDefinition.find(store).orElseThrow())
                        .summary()
                        .openRecords())
                .isEqualTo(80);
    }

    @Test
    void one_record_that_no_table_takes_costs_only_itself_and_its_message_comes_again() {
        Store store = DYNAMO.store("cursed");
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        List<String> sequences = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            sequences.add(shard.add(i, START, trade(i == 17 ? "cursed" : "t" + i, "FX")));
        }
        String first = message("shardId-000000000000", sequences.getFirst(), sequences.get(19));
        String second = message("shardId-000000000000", sequences.get(20), sequences.getLast());
        assertThat(invoke(Cursed.store(store, "cursed"), PIPELINE, first, second, "no message of the mapping"))
                .isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"m1\"},{\"itemIdentifier\":\"m3\"}]}");
        assertThat(totals(store)).containsExactly("=[39]", "FX=[39]");
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("WARN Message m1 of the retry queue comes again: Cursed")
                .contains("WARN Message m3")
                .doesNotContain("\"desk\"");
        assertThat(invoke(store, PIPELINE, first)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(totals(store)).containsExactly("=[40]", "FX=[40]");
    }

    @Test
    void hazard_25_of_records_that_the_stream_has_forgotten_a_letter_names_the_place_once_and_what_is_left_counts() {
        Store store = DYNAMO.store("forgotten");
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        List<String> sequences = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            sequences.add(shard.add(i, START, trade("t" + i, "FX")));
        }
        shard.trimmed = 4;
        String cut = message("shardId-000000000000", sequences.get(2), sequences.get(6));
        String gone = message("shardId-000000000009", sequences.get(0), sequences.get(1));
        assertThat(invoke(store, PIPELINE, cut, gone)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(invoke(store, PIPELINE, cut, gone)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(totals(store)).containsExactly("=[3]", "FX=[3]");
        List<DeadLetter> letters = letters(store);
        assertThat(letters).hasSize(2).allSatisfy(letter -> {
            assertThat(letter.reason()).isEqualTo(Reason.TOO_OLD);
            assertThat(letter.message()).contains(FakeStream.ARN);
        });
        assertThat(letters.getFirst().message())
                .contains(sequences.get(2) + " to " + sequences.get(6))
                .contains("3 of them were still there, from " + sequences.get(4) + " to " + sequences.get(6));
        assertThat(letters.get(1).message()).contains("shardId-000000000009", "none of them is there any more");
        byte[] kept = AwsEngine.deployed(store)
                .deadLetters()
                .record(letters.getFirst().id());
        assertThat(new String(kept, StandardCharsets.UTF_8)).isEqualTo(cut);
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("\"DeadLetters\":2");
    }

    @Test
    void a_message_that_was_taken_before_a_reset_leaves_no_letter_in_the_next_run() {
        Store store = Pauseless.store(DYNAMO.store("emptied"), DYNAMO.client);
        AwsEngine.open(store, PIPELINE, 2, 2);
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        String forgotten = shard.add(1, START, trade("t1", "FX"));
        String there = shard.add(2, START, trade("t2", "FX"));
        shard.trimmed = 1;
        Message message = new Message("m1", message("shardId-000000000000", forgotten, there), "", Arrival.NOT_KNOWN);
        Streams streams = new Streams(stream, DYNAMO.changes);
        Retries.Taken taken = new Retries(store, streams, arrivals -> {
                    Reset.run(store, _ -> {}, _ -> {});
                    return Batches.intoRows(store, arrivals);
                })
                .take(List.of(message));
        assertThat(taken.failures()).containsKey("m1");
        assertThat(letters(store)).isEmpty();
        assertThat(new Retries(store, streams).take(List.of(message)).failures())
                .isEmpty();
        assertThat(letters(store)).hasSize(1);
    }

    @Test
    void hazard_37_records_that_fit_into_no_invocation_are_read_from_the_stream_and_counted() {
        Store store = DYNAMO.store("large");
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        String padding = "x".repeat(10 * 1024 * 1024 - 100);
        String first = shard.add(
                1,
                START,
                ("{\"id\":\"a\",\"v\":1,\"desk\":\"FX\",\"padding\":\"" + padding + "\"}")
                        .getBytes(StandardCharsets.UTF_8));
        String last = shard.add(2, START, trade("b", "FX"));
        assertThat(invoke(store, PIPELINE, message("shardId-000000000000", first, last)))
                .isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(totals(store)).containsExactly("=[2]", "FX=[2]");
        assertThat(letters(store)).isEmpty();
    }

    /// A table with five items and what its stream tells of the second to the fourth.
    private static String changedTable() {
        String arn = DYNAMO.sourceTable("source");
        for (int i = 0; i < 5; i++) {
            Map<String, AttributeValue> item = Map.of(
                    "id", AttributeValue.fromS("t" + i),
                    "desk", AttributeValue.fromS("FX"),
                    "more", AttributeValue.fromL(List.of(AttributeValue.fromNs(List.of("1")))),
                    "value", AttributeValue.fromN("1.5" + i));
            DYNAMO.client
                    .putItem(request -> request.tableName("source").item(item))
                    .join();
        }
        DynamoDbStreamsAsyncClient changes = DYNAMO.changes;
        String shard = changes.describeStream(request -> request.streamArn(arn))
                .join()
                .streamDescription()
                .shards()
                .getFirst()
                .shardId();
        String iterator = changes.getShardIterator(request ->
                        request.streamArn(arn).shardId(shard).shardIteratorType(ShardIteratorType.TRIM_HORIZON))
                .join()
                .shardIterator();
        List<Record> records = changes.getRecords(request -> request.shardIterator(iterator))
                .join()
                .records();
        return message(
                "DDBStreamBatchInfo",
                arn,
                shard,
                records.get(1).dynamodb().sequenceNumber(),
                records.get(3).dynamodb().sequenceNumber());
    }

    @Test
    @Tag("campaign")
    void changes_of_a_table_are_read_from_its_stream_again() {
        Pipeline favourites = PipelineBuilder.named("favourites")
                .key("Keys.id")
                .version("SequenceNumber")
                .rollup(r -> r.levels("NewImage.desk").sum("value", "NewImage.value", 18, 2))
                .build();
        Store store = DYNAMO.store("changes");
        String message = changedTable();
        DYNAMO.changes.emptyPages().set(3);
        assertThat(invoke(store, favourites, message)).isEqualTo("{\"batchItemFailures\":[]}");
        assertThat(totals(store)).containsExactly("=[4.56]", "FX=[4.56]");
        assertThat(letters(store)).isEmpty();
        // That nothing came is not that nothing is there: such a message comes again.
        DYNAMO.changes.emptyPages().set(Integer.MAX_VALUE);
        Store impatient = Pauseless.store(store, store.client());
        assertThat(invoke(impatient, favourites, message))
                .isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"m1\"}]}");
        DYNAMO.changes.emptyPages().set(0);
        assertThat(letters(store)).isEmpty();
    }
}
