package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ReplayTest {
    private static final Instant NOW = Instant.now();
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private final FakeStream stream = new FakeStream(new SplittableRandom(11), 0.1);
    private final List<Counts> progress = new ArrayList<>();

    /// A shard that was split in two; each has sixty records, one a second, of which the children correct some.
    private void split() {
        FakeStream.Held parent = stream.shard("shardId-000000000000");
        parent.closed = true;
        List<FakeStream.Held> shards = List.of(
                parent,
                stream.shard("shardId-000000000001", parent.id),
                stream.shard("shardId-000000000002", parent.id));
        for (int s = 0; s < 3; s++) {
            for (int i = 0; i < 60; i++) {
                int id = s == 0 || i < 30 ? i : 1_000 * s + i;
                String trade = "{\"id\":%d,\"v\":%d}".formatted(id, s + 1);
                shards.get(s)
                        .add(
                                i,
                                NOW.minus(Duration.ofHours(s == 0 ? 3 : 2)).plusSeconds(i),
                                trade.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private Replay.Done replay(Store store, Position from, Position to, String... shard) {
        Replay.Range range = new Replay.Range(from, to, shard.length == 0 ? Optional.empty() : Optional.of(shard[0]));
        return Replay.run(store, stream, FakeStream.NAME, range, progress::add);
    }

    private static Position ago(int hours) {
        return new Position.Time(NOW.minus(Duration.ofHours(hours)));
    }

    @Test
    void all_shards_are_read_parents_first_and_a_second_time_everything_is_there_already() {
        Store store = DYNAMO.store("split");
        AwsEngine engine = AwsEngine.open(store, PIPELINE, 2, 2);
        split();
        Replay.Done first = replay(store, ago(5), ago(0));
        assertThat(first.shards()).isEqualTo(3);
        assertThat(first.counts().records()).isEqualTo(180);
        assertThat(first.forgotten()).isEmpty();
        assertThat(progress).isNotEmpty().last().isEqualTo(first.counts());
        Counts again = replay(store, ago(5), ago(0)).counts();
        assertThat(again.accepted()).isZero();
        assertThat(again.duplicate() + again.stale()).isEqualTo(180);
        engine.reduce();
        assertThat(engine.query(Query.all("main")).lines().getFirst().values())
                .containsExactly(BigDecimal.valueOf(60 + 60));
        // The children's records only.
        assertThat(replay(store, new Position.Time(NOW.minus(Duration.ofMinutes(150))), ago(0))
                        .counts()
                        .records())
                .isEqualTo(120);
    }

    @Test
    void one_shard_is_read_from_a_record_to_a_record_and_what_is_trimmed_of_it_is_told() {
        Store store = DYNAMO.store("one-shard");
        AwsEngine.open(store, PIPELINE, 2, 2);
        split();
        FakeStream.Held probe = new FakeStream.Held("probe", List.of());
        Position from = new Position.Sequence(probe.add(10, NOW, new byte[0]));
        Position to = new Position.Sequence(probe.add(19, NOW, new byte[0]));
        assertThat(replay(store, from, to, "shardId-000000000001").counts()).isEqualTo(new Counts(10, 0, 0, 0, 0));
        assertThatThrownBy(() -> replay(store, from, to))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("belongs to a shard")
                .hasMessageContaining("shardId-000000000002");
        assertThatThrownBy(() -> replay(store, from, to, "shardId-9"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no shard shardId-9");
        Position unknown = new Position.Sequence("10000000000000000000000000000000000000000000000000000001");
        assertThat(replay(store, unknown, to, "shardId-000000000001").forgotten())
                .singleElement()
                .asString()
                .contains("does not have all of it any more");
    }

    @Test
    void a_time_before_what_the_stream_keeps_is_told() {
        Store store = DYNAMO.store("retention");
        AwsEngine.open(store, PIPELINE, 2, 2);
        split();
        assertThat(replay(store, ago(25), ago(0)).forgotten())
                .singleElement()
                .asString()
                .contains("The stream keeps 24 hours");
    }

    @Test
    void a_record_that_cannot_be_written_fails_the_replay_and_the_others_are_in() {
        Store store = DYNAMO.store("cursed-replay");
        AwsEngine engine = AwsEngine.open(store, PIPELINE, 2, 2);
        FakeStream.Held shard = stream.shard("shardId-000000000000");
        for (String id : List.of("a", "cursed", "b")) {
            shard.add(
                    shard.records.size(),
                    NOW,
                    "{\"id\":\"%s\",\"v\":1}".formatted(id).getBytes(StandardCharsets.UTF_8));
        }
        assertThatThrownBy(() -> replay(Cursed.store(store, "cursed"), ago(1), ago(-1)))
                .hasMessageContaining("Cursed");
        replay(store, ago(1), ago(-1));
        engine.reduce();
        assertThat(engine.query(Query.all("main")).lines().getFirst().values()).containsExactly(BigDecimal.valueOf(3));
    }

    @Test
    void a_shard_is_read_when_all_its_parents_are() {
        Shards.Shard a = new Shards.Shard("a", List.of("forgotten"));
        Shards.Shard b = new Shards.Shard("b", List.of());
        Shards.Shard merged = new Shards.Shard("0", List.of("a", "b"));
        Shards.Shard split = new Shards.Shard("1", List.of("0"));
        assertThat(Replay.waves(List.of(split, merged, a, b)))
                .containsExactly(List.of(a, b), List.of(merged), List.of(split));
    }
}
