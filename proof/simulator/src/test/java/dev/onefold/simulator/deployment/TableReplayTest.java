package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.stream.Position;
import dev.onefold.aws.stream.Replay;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.stream.TableStream;
import dev.onefold.fixtures.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/// A table's change stream read again: by nothing else, so what is in the totals is what the replay has found.
class TableReplayTest {
    private static final String TABLE = "Favourites";
    private static final Pipeline FAVOURITES = PipelineBuilder.named("favourites")
            .key("Keys.id")
            .version("SequenceNumber")
            .delete("eventName = \"REMOVE\"")
            .rollup(r -> r.levels("NewImage.restaurant").count("favourites"))
            .build();

    /// A table, its stream, and a deployment that no mapping feeds. Not thread-safe.
    private static final class World {
        final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        final Deployment deployment;
        final AwsEngine engine;
        final TableStream stream;
        final Map<String, String> there = new TreeMap<>();
        int changes;
        private final SimulatedClient owner;

        @SuppressWarnings("unchecked") // The SDK takes generic varargs.
        World(RandomGenerator random) {
            SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, random.nextLong());
            deployment = new Deployment(time, dynamo, new SplittableRandom(random.nextLong()));
            engine = deployment.engine(FAVOURITES, 2, 4);
            owner = dynamo.client("owner");
            deployment.of(owner.createTable(request -> request.tableName(TABLE)
                    .billingMode(BillingMode.PAY_PER_REQUEST)
                    .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                    .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))));
            stream = new TableStream(time, dynamo, TABLE, 1 + random.nextInt(3), random.nextLong());
        }

        void put(String id, String restaurant) {
            changes++;
            there.put(id, restaurant);
            deployment.of(owner.putItem(request -> request.tableName(TABLE)
                    .item(Map.of(
                            "id",
                            AttributeValue.fromS(id),
                            "restaurant",
                            AttributeValue.fromS(restaurant),
                            "change",
                            AttributeValue.fromN(String.valueOf(changes))))));
        }

        void remove(String id) {
            changes++;
            there.remove(id);
            deployment.of(
                    owner.deleteItem(request -> request.tableName(TABLE).key(Map.of("id", AttributeValue.fromS(id)))));
        }

        Replay.Done replay(Duration age) {
            Instant now = time.instant();
            Replay.Range range =
                    new Replay.Range(new Position.Time(now.minus(age)), new Position.Time(now), Optional.empty());
            Replay.Done done = Replay.run(
                    deployment.store(deployment.dynamo.client("person")), stream, stream.arn(), range, _ -> {});
            engine.reduce();
            return done;
        }

        /// As an answer has them.
        List<String> totals() {
            return engine.query(Query.all("main")).lines().stream()
                    .map(line -> String.join("/", line.group()) + "=" + line.values())
                    .toList();
        }

        /// Of the items that are there.
        List<String> counted() {
            Map<String, Integer> counts = new TreeMap<>();
            there.values().forEach(restaurant -> counts.merge(restaurant, 1, Integer::sum));
            List<String> totals = new ArrayList<>(List.of("=[" + there.size() + "]"));
            counts.forEach((restaurant, count) -> totals.add(restaurant + "=[" + count + "]"));
            return totals;
        }
    }

    @Test
    void however_shards_roll_over_and_requests_fail_a_replay_finds_each_change_of_the_last_day() {
        Seeds.forAllSeeds(100, random -> {
            World world = new World(random);
            for (int i = 0; i < 60; i++) {
                String id = "id-" + random.nextInt(12);
                if (world.there.containsKey(id) && random.nextInt(3) == 0) {
                    world.remove(id);
                } else {
                    world.put(id, "restaurant-" + random.nextInt(4));
                }
                if (random.nextInt(10) == 0) {
                    world.stream.rollOver();
                }
                world.time.runFor(Duration.ofMinutes(random.nextInt(20)));
            }
            world.stream.inject(Faults.none()
                    .with(Fault.THROTTLED, 0.1)
                    .with(Fault.ERROR_BEFORE, 0.05)
                    .with(Fault.REPLY_LOST, 0.05)
                    .with(Faults.Timing.USUAL));
            Replay.Done done = world.replay(Duration.ofHours(23));
            assertThat(done.counts().records()).isEqualTo(world.changes);
            assertThat(done.forgotten()).isEmpty();
            assertThat(done.quiet()).isPositive().isLessThanOrEqualTo(done.shards());
            assertThat(world.totals()).isEqualTo(world.counted());
            assertThat(world.replay(Duration.ofHours(23)).counts().accepted()).isZero();
            assertThat(world.totals()).isEqualTo(world.counted());
        });
    }

    @Test
    void what_a_stream_has_forgotten_is_told_and_comes_with_the_item_s_next_change() {
        World world = new World(new SplittableRandom(1));
        world.put("gone", "Roma");
        assertThat(world.replay(Duration.ofHours(1)).forgotten()).isEmpty();
        world.put("old", "Thai");
        world.remove("gone");
        world.stream.rollOver();
        world.time.runFor(Duration.ofHours(25));
        world.put("new", "Sushi");
        Replay.Done done = world.replay(Duration.ofHours(30));
        assertThat(done.counts().records()).isEqualTo(1);
        assertThat(done.forgotten()).singleElement().asString().contains("The stream keeps 24 hours");
        assertThat(world.totals())
                .containsExactly("=[2]", "Roma=[1]", "Sushi=[1]"); // Nobody has told that one is gone.
        world.put("old", "Thai");
        world.put("gone", "Roma");
        world.remove("gone");
        world.replay(Duration.ofHours(1));
        assertThat(world.totals()).isEqualTo(world.counted()).containsExactly("=[2]", "Sushi=[1]", "Thai=[1]");
        assertThat(world.engine.verify().isEqual()).isTrue();
    }
}
