package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamResponse;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

class ReplayOfTablesTest {
    private static final Instant NOW = Instant.now();
    private static final Pipeline FAVOURITES = PipelineBuilder.named("favourites")
            .key("Keys.id")
            .version("SequenceNumber")
            .delete("eventName = \"REMOVE\"")
            .rollup(r -> r.levels("NewImage.restaurant").count("favourites"))
            .build();

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    /// Tables whose pauses take no time.
    private static Store store(String deployment) {
        Store store = DYNAMO.store(deployment);
        AwsEngine.open(store, FAVOURITES, 2, 2);
        return Pauseless.store(store, store.client());
    }

    private static void put(String table, String id, String restaurant) {
        DYNAMO.client
                .putItem(request -> request.tableName(table)
                        .item(Map.of("id", AttributeValue.fromS(id), "restaurant", AttributeValue.fromS(restaurant))))
                .join();
    }

    private static void remove(String table, String id) {
        DYNAMO.client
                .deleteItem(request -> request.tableName(table).key(Map.of("id", AttributeValue.fromS(id))))
                .join();
    }

    private static Replay.Done replay(Store store, String arn, Position from, Position to, String... shard) {
        Replay.Range range = new Replay.Range(from, to, shard.length == 0 ? Optional.empty() : Optional.of(shard[0]));
        return Replay.run(store, DYNAMO.changes, arn, range, _ -> {});
    }

    private static Position ago(Duration age) {
        return new Position.Time(NOW.minus(age));
    }

    private static Replay.Done replay(Store store, String arn) {
        return replay(store, arn, ago(Duration.ofHours(1)), ago(Duration.ofHours(-1)));
    }

    private static List<String> totals(Store store) {
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    @Test
    void all_shards_of_a_table_s_stream_are_read_and_a_second_time_everything_is_there_already() {
        Store store = store("whole");
        String arn = DYNAMO.sourceTable("Whole");
        put("Whole", "a", "Roma");
        put("Whole", "b", "Roma");
        put("Whole", "b", "Sushi");
        DYNAMO.rollOver();
        remove("Whole", "a");
        remove("Whole", "b");
        put("Whole", "b", "Roma"); // It comes back.
        Replay.Done first = replay(store, arn);
        assertThat(first.shards()).isEqualTo(2);
        assertThat(first.counts().records()).isEqualTo(6);
        assertThat(first.counts().rejected()).isZero();
        assertThat(first.forgotten()).isEmpty();
        assertThat(first.quiet()).isEqualTo(1); // The other one is closed.
        assertThat(totals(store)).containsExactly("=[1]", "Roma=[1]");
        Counts again = replay(store, arn).counts();
        assertThat(again.accepted()).isZero();
        assertThat(again.duplicate() + again.stale()).isEqualTo(6);
        assertThat(totals(store)).containsExactly("=[1]", "Roma=[1]");
    }

    @Test
    void a_time_begins_at_the_change_that_tells_it_rounded_down_and_ends_at_the_first_later_one() {
        Store store = store("times");
        String arn = DYNAMO.sourceTable("Times");
        put("Times", "a", "Roma");
        Instant told = records(arn).getFirst().dynamodb().approximateCreationDateTime();
        Position late = new Position.Time(told.plusSeconds(59));
        assertThat(replay(store, arn, late, late).counts()).isEqualTo(new Counts(1, 0, 0, 0, 0));
        Position before = new Position.Time(told.minusSeconds(1));
        Replay.Done none = replay(store, arn, before, before);
        assertThat(none.counts().records()).isZero();
        assertThat(none.quiet()).isZero(); // A later record is seen.
    }

    @Test
    void one_shard_is_read_from_a_record_to_a_record() {
        Store store = store("range");
        String arn = DYNAMO.sourceTable("Range");
        for (int i = 0; i < 5; i++) {
            put("Range", "id-" + i, "Roma");
        }
        List<String> sequences = records(arn).stream()
                .map(record -> record.dynamodb().sequenceNumber())
                .toList();
        Position from = new Position.Sequence(sequences.get(1));
        Position to = new Position.Sequence(sequences.get(3));
        DYNAMO.changes.emptyPages().set(5);
        assertThat(replay(store, arn, from, to))
                .isEqualTo(new Replay.Done(new Fates(new Counts(3, 0, 0, 0, 0), Causes.NONE), 1, List.of(), 0));
        DYNAMO.rollOver();
        assertThatThrownBy(() -> replay(store, arn, from, to))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("belongs to a shard")
                .hasMessageContaining(shard(arn));
        assertThat(replay(store, arn, from, to, shard(arn)).counts().duplicate())
                .isEqualTo(3);
    }

    @Test
    void hazard_32_what_came_before_a_day_is_told_as_forgotten() {
        Store store = store("day");
        String arn = DYNAMO.sourceTable("Day");
        put("Day", "a", "Roma");
        assertThat(replay(store, arn, ago(Duration.ofHours(25)), ago(Duration.ofHours(-1)))
                        .forgotten())
                .singleElement()
                .asString()
                .contains("The stream keeps 24 hours");
        assertThat(totals(store)).containsExactly("=[1]", "Roma=[1]");
    }

    @Test
    void what_live_functions_have_taken_meanwhile_is_not_taken_back() {
        Store store = store("live");
        String arn = DYNAMO.sourceTable("Live");
        put("Live", "a", "Roma");
        put("Live", "a", "Sushi");
        List<String> sequences = records(arn).stream()
                .map(record -> record.dynamodb().sequenceNumber())
                .toList();
        Position newest = new Position.Sequence(sequences.getLast());
        replay(store, arn, newest, newest);
        Position oldest = new Position.Sequence(sequences.getFirst());
        assertThat(replay(store, arn, oldest, oldest).counts().stale()).isEqualTo(1);
        assertThat(totals(store)).containsExactly("=[1]", "Sushi=[1]");
        AwsEngine engine = AwsEngine.deployed(store);
        assertThat(engine.verify().isEqual()).isTrue();
        assertThat(engine.query(Query.all("main")).lines().getFirst().values()).containsExactly(BigDecimal.ONE);
    }

    @Test
    void hazard_40_items_from_before_the_stream_come_in_when_written_once_more_and_removed_ones_stay_away() {
        Store store = store("seeded");
        DYNAMO.sourceTable("Seeded");
        List.of("a", "b", "c").forEach(id -> put("Seeded", id, "Roma"));
        stream("Seeded", false);
        stream("Seeded", true);
        String arn = DYNAMO.client
                .describeTable(request -> request.tableName("Seeded"))
                .join()
                .table()
                .latestStreamArn();
        put("Seeded", "b", "Sushi"); // Somebody goes on working meanwhile.
        remove("Seeded", "c");
        assertThat(replay(store, arn).counts().records()).isEqualTo(2);
        assertThat(totals(store)).containsExactly("=[1]", "Sushi=[1]");
        List.of("a", "b").forEach(ReplayOfTablesTest::writeAgain);
        assertThatThrownBy(() -> writeAgain("c")).hasRootCauseInstanceOf(ConditionalCheckFailedException.class);
        replay(store, arn);
        assertThat(totals(store)).containsExactly("=[2]", "Roma=[1]", "Sushi=[1]");
    }

    private static void stream(String table, boolean isOn) {
        DYNAMO.client
                .updateTable(request -> request.tableName(table)
                        .streamSpecification(stream ->
                                stream.streamEnabled(isOn).streamViewType(isOn ? StreamViewType.NEW_IMAGE : null)))
                .join();
    }

    private static void writeAgain(String id) {
        DYNAMO.client
                .updateItem(request -> request.tableName("Seeded")
                        .key(Map.of("id", AttributeValue.fromS(id)))
                        .updateExpression("SET seeded = :now")
                        .conditionExpression("attribute_exists(id)")
                        .expressionAttributeValues(Map.of(":now", AttributeValue.fromS("1"))))
                .join();
    }

    private static String shard(String arn) {
        DescribeStreamResponse stream =
                DYNAMO.changes.describeStream(request -> request.streamArn(arn)).join();
        return stream.streamDescription().shards().getFirst().shardId();
    }

    private static List<Record> records(String arn) {
        GetRecordsResponse page = DYNAMO.changes
                .getShardIterator(request ->
                        request.streamArn(arn).shardId(shard(arn)).shardIteratorType(ShardIteratorType.TRIM_HORIZON))
                .thenCompose(
                        begin -> DYNAMO.changes.getRecords(request -> request.shardIterator(begin.shardIterator())))
                .join();
        return page.records();
    }
}
