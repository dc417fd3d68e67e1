package dev.onefold.simulator.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.queue.SimulatedQueues;
import dev.onefold.fakes.stream.TableStream;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.TableSource;
import dev.onefold.simulator.deployment.VirtualScheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

class TableMappingTest {
    private static final String TABLE = "Trades";
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Bench bench = new Bench(1);
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(bench.time, 1);
    private final SimulatedClient client = dynamo.client("writer");
    private final TableStream stream;

    @SuppressWarnings("unchecked") // The SDK takes generic varargs.
    TableMappingTest() {
        bench.of(client.createTable(request -> request.tableName(TABLE)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))));
        stream = new TableStream(bench.time, dynamo, TABLE, 2, 1);
    }

    private void put(String id, String value) {
        bench.of(client.putItem(request -> request.tableName(TABLE)
                .item(Map.of("id", AttributeValue.fromS(id), "value", AttributeValue.fromN(value)))));
    }

    private StreamMapping map(MappingSettings settings, Set<OperationType> kinds) {
        return StreamMapping.open(
                new VirtualScheduler(bench.time),
                new TableSource(stream, stream.arn(), kinds),
                new Target(
                        bench.function(),
                        Bench.FUNCTION,
                        new Destination(bench.queues.client(), SimulatedQueues.url(Bench.QUEUE))),
                settings,
                MappingFaults.NONE);
    }

    private static Set<OperationType> all() {
        return Set.of(OperationType.INSERT, OperationType.MODIFY, OperationType.REMOVE);
    }

    @Test
    void a_change_is_given_to_the_function_as_lambda_gives_it_with_typed_values_and_without_a_shard() {
        bench.of(client.putItem(request -> request.tableName(TABLE)
                .item(Map.of(
                        "id",
                        AttributeValue.fromS("a"),
                        "all",
                        AttributeValue.fromM(new TreeMap<>(Map.of(
                                "b", AttributeValue.fromB(SdkBytes.fromUtf8String("b")),
                                "l", AttributeValue.fromL(List.of(AttributeValue.fromBool(true))),
                                "n", AttributeValue.fromNul(true),
                                "s", AttributeValue.fromNs(List.of("1.5")))))))));
        map(MappingSettings.input(), all());
        bench.run(MINUTE);
        assertThat(new String(bench.events.getFirst(), StandardCharsets.UTF_8))
                .startsWith(
                        "{\"Records\":[{\"eventID\":\"change-1\",\"eventName\":\"INSERT\",\"eventVersion\":\"1.1\","
                                + "\"eventSource\":\"aws:dynamodb\",\"awsRegion\":\"eu-central-1\",\"dynamodb\":{"
                                + "\"ApproximateCreationDateTime\":1893456000.000,\"Keys\":{\"id\":{\"S\":\"a\"}},\"NewImage\":{")
                .contains("\"all\":{\"M\":{\"b\":{\"B\":\"Yg==\"},\"l\":{\"L\":[{\"BOOL\":true}]},"
                        + "\"n\":{\"NULL\":true},\"s\":{\"NS\":[\"1.5\"]}}}")
                .endsWith("\"SequenceNumber\":\"000000000000000000001\",\"SizeBytes\":1,"
                        + "\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"},\"eventSourceARN\":\"" + stream.arn() + "\"}]}")
                .doesNotContain("shardId", "OldImage");
    }

    @Test
    void changes_of_one_item_keep_their_order_across_rolled_over_shards() {
        map(MappingSettings.input().withBatch(2, Duration.ZERO).withParallelizationFactor(5), all());
        for (int i = 0; i < 60; i++) {
            put("item-" + i % 6, Integer.toString(i));
            if (i % 10 == 9) {
                stream.rollOver();
                bench.run(Duration.ofMillis(300));
            }
        }
        bench.run(Duration.ofMinutes(2));
        assertThat(bench.done).hasSize(60);
        for (int item = 0; item < 6; item++) {
            String id = "item-" + item;
            assertThat(bench.done.stream()
                            .filter(change -> change.contains("\"Keys\":{\"id\":\"" + id + "\"}"))
                            .map(change -> Integer.parseInt(
                                    change.replaceAll(".*\"NewImage\":\\{[^}]*\"value\":([0-9]+).*", "$1"))))
                    .hasSize(10)
                    .isSorted();
        }
    }

    @Test
    void a_filter_delivers_only_what_it_names() {
        map(MappingSettings.wakes(), Set.of(OperationType.INSERT));
        put("a", "1");
        put("a", "2");
        bench.of(client.deleteItem(request -> request.tableName(TABLE).key(Map.of("id", AttributeValue.fromS("a")))));
        put("b", "1");
        bench.run(MINUTE);
        assertThat(bench.done).hasSize(2).allMatch(change -> change.contains("\"eventName\":\"INSERT\""));
    }

    @Test
    void after_an_outage_of_more_than_a_day_it_goes_on_with_what_the_stream_still_has() {
        map(MappingSettings.input(), all());
        put("a", "1");
        bench.run(MINUTE);
        stream.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        put("a", "2");
        bench.run(Duration.ofHours(25));
        stream.inject(Faults.none());
        put("a", "3");
        bench.run(MINUTE);
        assertThat(bench.done).hasSize(2);
        assertThat(bench.done.getFirst()).contains("\"NewImage\":{\"id\":\"a\",\"value\":1}");
        assertThat(bench.done.getLast()).contains("\"NewImage\":{\"id\":\"a\",\"value\":3}");
    }

    @Test
    void what_is_given_up_is_told_with_the_place_that_its_records_have() {
        bench.failsFor(_ -> true);
        map(MappingSettings.input().withEnd(0, MappingSettings.FOREVER), all());
        put("a", "1");
        bench.run(MINUTE);
        assertThat(bench.givenUp()).singleElement().satisfies(failed -> {
            assertThat(failed.shard()).isEqualTo("Trades/2030-01-01T00:00:00Z");
            assertThat(failed.firstSequence()).isEqualTo("000000000000000000001");
        });
    }
}
