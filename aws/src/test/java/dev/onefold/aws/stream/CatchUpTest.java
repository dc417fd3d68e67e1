package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class CatchUpTest {
    private static final Instant NOW = Instant.now();
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final Pipeline CHANGES = PipelineBuilder.named("favourites")
            .key("Keys.id")
            .version("SequenceNumber")
            .delete("eventName = \"REMOVE\"")
            .rollup(r -> r.levels("NewImage.restaurant").count("favourites"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final FakeStream stream = new FakeStream(new SplittableRandom(11), 0.1);
    private final FakeStream.Held shard = stream.shard("shardId-000000000000");

    private static Store store(String deployment, Pipeline pipeline) {
        Store store = DYNAMO.store("catch-up-" + deployment); // All tests of the module share one server.
        AwsEngine.open(store, pipeline, 2, 2);
        return Pauseless.store(store, store.client());
    }

    private static byte[] trade(int id) {
        return "{\"id\":%d,\"v\":1}".formatted(id).getBytes(StandardCharsets.UTF_8);
    }

    /// Records that came one a minute, the last one a minute ago.
    private void put(int count) {
        for (int i = 0; i < count; i++) {
            shard.add(i, NOW.minus(Duration.ofMinutes(count - i)), trade(i));
        }
    }

    /// State has taken the first ones.
    private static void take(Store store, int count) {
        for (int i = 0; i < count; i++) {
            StateAndMap.process(store, List.of(new Arrival("trades/shardId-000000000000", "1" + i, 0, trade(i))));
        }
    }

    private CatchUp.Done catchUp(Store store) {
        return CatchUp.run(store, stream, FakeStream.NAME, () -> false);
    }

    private static long rows(Store store) {
        return AwsEngine.deployed(store).rangeSums().rows();
    }

    @Test
    void where_state_is_not_behind_the_latest_minutes_alone_are_folded_again() {
        Store store = store("current", PIPELINE);
        put(120);
        take(store, 118);
        CatchUp.Done done = catchUp(store);
        assertThat(done.counts().accepted()).isEqualTo(2);
        assertThat(done.counts().records()).isLessThan(118);
        assertThat(done.behind()).isZero();
        assertThat(rows(store)).isEqualTo(120);
    }

    @Test
    void what_state_has_not_taken_for_hours_is_folded_from_where_it_is() {
        Store store = store("behind", PIPELINE);
        put(400);
        take(store, 30);
        CatchUp.Done done = catchUp(store);
        assertThat(done.behind()).isOne();
        assertThat(done.counts().accepted()).isEqualTo(370);
        assertThat(rows(store)).isEqualTo(400);
    }

    @Test
    void what_state_has_not_taken_is_folded_from_its_place_on_whatever_a_replay_has_brought() {
        Store store = store("replayed", PIPELINE);
        put(400);
        take(store, 30);
        new Places(store).order(true);
        Arrival last = new Arrival(
                "trades/" + shard.id, shard.records.get(29).sequence().toString(), 0, trade(29));
        new Places(store).noting(Optional.of(FakeStream.ARN), List.of(last)).run();
        Replay.Range latest = new Replay.Range(
                new Position.Time(NOW.minus(Duration.ofMinutes(20))), new Position.Time(NOW), Optional.empty());
        Replay.run(store, stream, FakeStream.ARN, latest, _ -> {});
        CatchUp.Done done = CatchUp.run(store, stream, FakeStream.ARN, () -> false);
        assertThat(done.counts().accepted()).isEqualTo(350);
        assertThat(done.behind()).isOne();
        assertThat(rows(store)).isEqualTo(400);
        shard.trimmed = 100;
        assertThat(CatchUp.run(store, stream, FakeStream.ARN, () -> false)
                        .counts()
                        .accepted())
                .isZero();
    }

    @Test
    void a_stream_that_nobody_has_read_is_read_from_its_oldest_record() {
        Store store = store("unread", PIPELINE);
        put(10);
        shard.closed = true;
        stream.shard("shardId-000000000001", shard.id).add(1, NOW.minus(Duration.ofMinutes(1)), trade(99));
        assertThat(catchUp(store).counts().accepted()).isEqualTo(11);
    }

    @Test
    void a_shard_that_the_stream_lists_late_is_read_too() {
        Store store = store("late", PIPELINE);
        put(10);
        shard.closed = true;
        AtomicBoolean isListed = new AtomicBoolean();
        CatchUp.Done done = CatchUp.run(store, stream, FakeStream.NAME, () -> {
            if (isListed.compareAndSet(false, true)) {
                stream.shard("shardId-000000000001", shard.id).add(1, NOW.minus(Duration.ofMinutes(1)), trade(99));
            }
            return false;
        });
        assertThat(done.counts().accepted()).isEqualTo(11);
        assertThat(done.shards()).isEqualTo(2);
    }

    @Test
    void a_shard_that_is_quiet_for_hours_is_proven_by_its_last_records() {
        Store store = store("quiet", PIPELINE);
        for (int i = 0; i < 50; i++) {
            shard.add(i, NOW.minus(Duration.ofHours(3)).plusSeconds(i), trade(i));
        }
        take(store, 49);
        assertThat(catchUp(store).counts().accepted()).isOne();
        assertThat(catchUp(store).counts().accepted()).isZero();
        assertThat(rows(store)).isEqualTo(50);
    }

    @Test
    void records_that_have_no_row_prove_nothing_of_those_before_them() {
        Store store = store("refused", PIPELINE);
        for (int i = 0; i < 600; i++) {
            boolean isGood = i < 400;
            shard.add(
                    i,
                    NOW.minus(Duration.ofMinutes(isGood ? 90 : 30)).plusSeconds(i),
                    isGood ? trade(i) : "nonsense".getBytes(StandardCharsets.UTF_8));
        }
        take(store, 100);
        assertThat(catchUp(store).counts().accepted()).isEqualTo(300);
    }

    @Test
    void the_change_stream_of_a_table_is_caught_up_with_whatever_state_has_taken() {
        Store store = store("changes", CHANGES);
        String arn = DYNAMO.sourceTable("CaughtUp");
        for (int i = 0; i < 30; i++) {
            String id = "k" + i;
            DYNAMO.client
                    .putItem(request -> request.tableName("CaughtUp")
                            .item(Map.of("id", AttributeValue.fromS(id), "restaurant", AttributeValue.fromS("Roma"))))
                    .join();
            if (i == 15) {
                DYNAMO.rollOver();
            }
        }
        CatchUp.Done first = CatchUp.run(store, DYNAMO.changes, arn, () -> false);
        assertThat(first.counts().accepted()).isEqualTo(30);
        assertThat(rows(store)).isEqualTo(30);
        CatchUp.Done again = CatchUp.run(store, DYNAMO.changes, arn, () -> false);
        assertThat(again.counts().accepted()).isZero();
        assertThat(again.counts().records()).isLessThan(30); // State has begun with a shard that follows.
        assertThatThrownBy(() -> CatchUp.run(store, DYNAMO.changes, arn, () -> true))
                .isInstanceOf(CancellationException.class);
    }
}
