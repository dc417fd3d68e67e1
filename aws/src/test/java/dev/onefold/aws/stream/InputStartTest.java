package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class InputStartTest {
    private static final Instant NOW = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final FakeStream stream = new FakeStream(new SplittableRandom(11), 0.1);
    private final FakeStream.Held shard = stream.shard("shardId-000000000000");

    private static Store store(String name) {
        Store store = DYNAMO.store("input-start-" + name);
        new Places(store).order(true);
        return Pauseless.store(store, store.client());
    }

    private static byte[] trade(int id) {
        return "{\"id\":%d,\"v\":1}".formatted(id).getBytes(StandardCharsets.UTF_8);
    }

    private static Instant minutesAgo(int minutes) {
        return NOW.minus(Duration.ofMinutes(minutes));
    }

    /// Records that came one a minute.
    private static void put(FakeStream.Held shard, int fromMinutesAgo, int toMinutesAgo) {
        for (int ago = fromMinutesAgo; ago > toMinutesAgo; ago--) {
            shard.add(1_000 - ago, minutesAgo(ago), trade(ago));
        }
    }

    private static Arrival arrival(FakeStream.Held shard, int record) {
        FakeStream.Stored stored = shard.records.get(record);
        return new Arrival("trades/" + shard.id, stored.sequence().toString(), 0, stored.data());
    }

    /// The mapping has brought a batch that ends there, to a process of State that has noted nothing yet.
    private static void take(Store store, FakeStream.Held shard, int last) {
        new Places(store)
                .noting(Optional.of(FakeStream.ARN), List.of(arrival(shard, last)))
                .run();
    }

    private Optional<String> refusal(Store store, Instant from) {
        return InputStart.refusal(
                store,
                () -> new Streams(stream, DYNAMO.changes),
                new InputStart.Asked(
                        FakeStream.ARN + "/consumer/fan-out:1", Long.toString(from.getEpochSecond()), false, false));
    }

    private Instant covered(Store store) {
        return InputStart.covered(store, () -> new Streams(stream, DYNAMO.changes), FakeStream.ARN)
                .orElseThrow()
                .plus(Duration.ofMinutes(5));
    }

    @Test
    void a_time_behind_which_a_replay_has_read_is_not_covered() {
        Store store = store("replay");
        AwsEngine.open(store, PIPELINE, 2, 2);
        put(shard, 180, 0);
        for (int i = 0; i < 30; i++) { // State stopped 150 minutes ago.
            StateAndMap.process(store, List.of(arrival(shard, i)));
        }
        take(store, shard, 29);
        assertThat(refusal(store, minutesAgo(6)))
                .hasValueSatisfying(why -> assertThat(why)
                        .contains(minutesAgo(155).getEpochSecond() + " is one, and a later one would lose records"));
        Replay.Range latest =
                new Replay.Range(new Position.Time(minutesAgo(10)), new Position.Time(NOW), Optional.empty());
        assertThat(Replay.run(store, stream, FakeStream.ARN, latest, _ -> {})
                        .counts()
                        .accepted())
                .isEqualTo(10);
        assertThat(refusal(store, minutesAgo(6))).isPresent();
        assertThat(refusal(store, minutesAgo(154))).isPresent();
        assertThat(refusal(store, minutesAgo(155))).isEmpty();
    }

    @Test
    void a_shard_is_covered_until_now_if_nothing_follows_the_place_however_old_that_is() {
        Store store = store("idle");
        put(shard, 600, 590);
        take(store, shard, 9);
        stream.shard("shardId-000000000001"); // Never had a record.
        assertThat(covered(store)).isAfterOrEqualTo(NOW);
        shard.closed = true;
        assertThat(covered(store)).isAfterOrEqualTo(NOW);
        shard.trimmed = 10;
        assertThat(covered(store)).isAfterOrEqualTo(NOW);
        stream.forget(shard.id);
        assertThat(covered(store)).isAfterOrEqualTo(NOW);
    }

    @Test
    void a_shard_that_state_has_not_begun_is_covered_until_its_oldest_record() {
        Store store = store("begun");
        put(shard, 90, 0);
        take(store, shard, 89);
        put(stream.shard("shardId-000000000001"), 40, 0);
        assertThat(covered(store)).isEqualTo(minutesAgo(40));
    }

    @Test
    void a_place_that_the_stream_does_not_have_proves_nothing_of_what_it_has() {
        Store store = store("forgotten");
        put(shard, 90, 0);
        take(store, shard, 29);
        shard.trimmed = 50;
        assertThat(covered(store)).isEqualTo(minutesAgo(40));
        shard.trimmed = 0;
        shard.records.clear(); // The stream was deleted and recreated under the same name.
        shard.add(1, minutesAgo(20), trade(1));
        assertThat(covered(store)).isEqualTo(minutesAgo(20));
    }

    @Test
    void a_place_that_the_stream_does_not_have_proves_nothing_of_the_parents_of_its_shard() {
        Store store = store("split-anew");
        FakeStream.Held split = stream.shard("shardId-000000000001", shard.id);
        put(split, 540, 530);
        take(store, split, 9);
        split.records.clear(); // The stream was deleted, recreated under the same name, and split as before.
        put(shard, 180, 120);
        shard.closed = true;
        put(split, 20, 0);
        assertThat(covered(store)).isEqualTo(minutesAgo(180));
        assertThat(refusal(store, minutesAgo(25))).isPresent();
        take(store, split, 9); // Of the new one.
        assertThat(covered(store)).isEqualTo(minutesAgo(10));
        shard.trimmed = 60;
        split.trimmed = 15;
        assertThat(covered(store)).isEqualTo(minutesAgo(5));
    }

    /// Of the last batches before its end none was noted.
    @Test
    void a_shard_is_done_if_one_that_was_split_or_merged_from_it_is_begun_and_only_then() {
        Store store = store("resharded");
        put(shard, 180, 150);
        take(store, shard, 20);
        shard.closed = true;
        FakeStream.Held left = stream.shard("shardId-000000000001", shard.id);
        FakeStream.Held right = stream.shard("shardId-000000000002", shard.id);
        put(left, 140, 120);
        put(right, 130, 110);
        assertThat(covered(store)).isEqualTo(minutesAgo(159));
        take(store, right, 19);
        assertThat(covered(store)).isEqualTo(minutesAgo(140));
        take(store, left, 9);
        assertThat(covered(store)).isEqualTo(minutesAgo(130));
        left.closed = true;
        right.closed = true;
        FakeStream.Held merged = stream.shard("shardId-000000000003", left.id, right.id);
        put(merged, 100, 0);
        assertThat(covered(store)).isEqualTo(minutesAgo(130));
        take(store, merged, 49);
        assertThat(covered(store)).isEqualTo(minutesAgo(50));
    }

    @Test
    void a_place_never_moves_backwards_and_counts_only_under_the_order_that_it_was_noted_under() {
        Store store = store("order");
        put(shard, 90, 0);
        take(store, shard, 59);
        take(store, shard, 29);
        assertThat(covered(store)).isEqualTo(minutesAgo(30));
        Runnable late = new Places(store).noting(Optional.of(FakeStream.ARN), List.of(arrival(shard, 79)));
        new Places(store).order(false);
        assertThat(refusal(store, minutesAgo(80)))
                .hasValueSatisfying(why -> assertThat(why).contains("ParallelizationFactor is 1", "Give InputFrom 1:"));
        assertThat(refusal(store, Instant.ofEpochSecond(1))).isEmpty();
        take(store, shard, 69);
        new Places(store).order(true);
        late.run();
        assertThat(covered(store)).isEqualTo(minutesAgo(90));
        take(store, shard, 9);
        assertThat(covered(store)).isEqualTo(minutesAgo(80));
    }
}
