package dev.onefold.simulator.reset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.deployment.TradeFixtures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A deployment is emptied while functions are at work, which may have begun long before and go on long after.
class ResetsTest {
    private static final int LANES = 3;
    private static final int GATES = 4;
    private static final int BATCHES = 12;
    private static final int BATCH = 8;
    private static final Duration BUSY = Duration.ofSeconds(60);
    private static final Duration LATE_MAX = Duration.ofMinutes(40);

    private final Deployment calm = Deployment.calm();

    /// Records of a batch: of few keys, corrections among them, and one that is no record.
    private static List<Arrival> batch(int number) {
        List<Arrival> batch = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            int at = number * BATCH + i;
            String record = i == 3
                    ? "poison " + number
                    : "{\"id\":\"t%d\",\"v\":%d,\"desk\":\"desk%d\",\"value\":%d}"
                            .formatted(at * 7 % 40, at, at % 3, at % 11);
            batch.add(new Arrival("s/shard", Integer.toString(at + 1), 0, record.getBytes(StandardCharsets.UTF_8)));
        }
        return batch;
    }

    private static List<String> lines(AwsEngine engine) {
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(ResetsTest::text)
                .toList();
    }

    private static String text(Answer.Line line) {
        return line.group() + " " + line.values();
    }

    private static void fold(Deployment deployment) {
        for (int number = 0; number < BATCHES; number++) {
            StateAndMap.process(deployment.function(), batch(number));
        }
    }

    private static List<String> right() {
        Deployment alone = Deployment.calm();
        AwsEngine engine = alone.engine(TradeFixtures.VALUES, LANES, GATES);
        fold(alone);
        return lines(engine);
    }

    /// The dead letters are those of one run, and their records can be read.
    private static void requireRecords(AwsEngine engine) {
        assertThat(engine.deadLetters().list(0, 100))
                .extracting(letter -> new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                .hasSize(BATCHES)
                .allMatch(record -> record.startsWith("poison"));
    }

    /// One life: the functions are at work, and one reset after the other is begun, at the same time, too.
    private static final class Life {
        private final SplittableRandom random;
        private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        private final SimulatedDynamoDb dynamo;
        private final Deployment deployment;
        private final AwsEngine engine;
        private final List<SimulatedClient> resets = new ArrayList<>();
        private boolean isOver;
        private int left = BATCHES;

        Life(SplittableRandom random) {
            this.random = random;
            dynamo = new SimulatedDynamoDb(time, random.nextLong());
            deployment = new Deployment(time, dynamo, random.split());
            engine = deployment.engine(TradeFixtures.VALUES, LANES, GATES);
        }

        void run() {
            dynamo.inject(Faults.none()
                    .with(Faults.Timing.USUAL)
                    .with(Fault.ZOMBIE, 0.02)
                    .with(Fault.REPLY_LOST, 0.02)
                    .with(Fault.CONFLICT, 0.05)
                    .with(Fault.THROTTLED, 0.02));
            for (int number = 0; number < BATCHES; number++) {
                List<Arrival> batch = batch(number);
                time.schedule(upTo(BUSY), () -> deliver(batch));
            }
            for (int lane = 0; lane < LANES; lane++) {
                TradeFixtures.keepReducing(deployment, lane, () -> isOver);
            }
            for (int reset = 0; reset < 3; reset++) {
                time.schedule(upTo(BUSY), this::beginReset);
            }
            time.runFor(BUSY.multipliedBy(3));
            resets.forEach(SimulatedClient::kill);
            deployment.of(reset(deployment.store(dynamo.client("last"))));
            isOver = true; // What is late is reduced below.
            time.runFor(Duration.ofMinutes(1));
            dynamo.inject(Faults.none());
            time.runFor(LATE_MAX);
            assertThat(left).as("batches that are not taken").isZero();
            assertThat(Reset.isUnderWay(deployment.function())).isFalse();
            engine.reduce();
            assertThat(engine.verify().differences()).isEmpty();
            fold(deployment);
            assertThat(lines(engine)).isEqualTo(right());
            assertThat(engine.verify().differences()).isEmpty();
            requireRecords(engine);
        }

        private Duration upTo(Duration max) {
            return Duration.ofMillis(random.nextLong(max.toMillis()));
        }

        /// As a mapping does: until it is taken. Some invocations die, and another one takes the batch.
        private void deliver(List<Arrival> batch) {
            SimulatedClient client = dynamo.client("state");
            Store store = deployment.store(client);
            CompletableFuture<Void> done = deployment.start(() -> {
                StateAndMap.process(store, batch);
            });
            boolean[] isRetried = {false};
            Runnable again = () -> {
                if (!isRetried[0]) {
                    isRetried[0] = true;
                    time.schedule(Duration.ofSeconds(1), () -> deliver(batch));
                }
            };
            if (random.nextInt(6) == 0) {
                time.schedule(upTo(Duration.ofSeconds(2)), () -> {
                    client.kill();
                    again.run();
                });
            }
            var _ = done.handle((_, failure) -> {
                if (failure != null) {
                    again.run();
                } else if (!isRetried[0]) {
                    isRetried[0] = true;
                    left--;
                }
                return null;
            });
        }

        private void beginReset() {
            SimulatedClient client = dynamo.client("reset");
            resets.add(client);
            var _ = reset(deployment.store(client));
            if (random.nextBoolean()) {
                time.schedule(upTo(Duration.ofSeconds(20)), client::kill);
            }
        }

        private CompletableFuture<Void> reset(Store store) {
            return deployment.start(() -> {
                for (int tries = 0; ; tries++) {
                    try {
                        Reset.run(store, _ -> {}, _ -> {});
                        return;
                    } catch (Reset.Overtaken overtaken) {
                        if (tries > 20) {
                            throw overtaken;
                        }
                    }
                }
            });
        }
    }

    private static void live(RandomGenerator random) {
        new Life(new SplittableRandom(random.nextLong())).run();
    }

    @Test
    void whatever_functions_and_resets_do_at_the_same_time_the_totals_are_those_of_the_rows() {
        Seeds.forAllSeeds(6, ResetsTest::live);
    }

    @Test
    @Tag("campaign")
    void of_many_resets_the_totals_are_those_of_the_rows() {
        Seeds.forAllSeeds(150, ResetsTest::live);
    }

    @Test
    void after_a_reset_all_records_count_again_and_ids_of_letters_go_on() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        fold(calm);
        engine.reduce();
        long last = engine.deadLetters().lastId();
        assertThat(calm.bucket.size()).isEqualTo(BATCHES);
        long[] told = new long[1];
        long deleted = Reset.run(calm.function(), _ -> {}, count -> told[0] = count);
        assertThat(deleted).isEqualTo(told[0]).isGreaterThan(40);
        assertThat(engine.query(Query.all("main")).lines()).hasSize(1);
        assertThat(engine.deadLetters().size()).isZero();
        assertThat(calm.bucket.size()).isZero();
        for (Reset.Table table : Reset.look(calm.function())) {
            assertThat(left(table)).as(table.name()).isZero();
        }
        fold(calm);
        assertThat(lines(engine)).isEqualTo(right());
        assertThat(engine.deadLetters().list(0, 100))
                .hasSize(BATCHES)
                .extracting(DeadLetter::id)
                .allMatch(id -> id > last);
        assertThat(engine.verify().isEqual()).isTrue();
    }

    /// Items that say something of a record.
    private long left(Reset.Table table) {
        return calm.of(calm.dynamo.client("person").scan(request -> request.tableName(table.name()))).items().stream()
                .filter(item -> isOfRecord(table, item))
                .count();
    }

    private static boolean isOfRecord(Reset.Table table, Map<String, AttributeValue> item) {
        if (table.name().endsWith("-rows")) {
            return item.get("k").b().asByteArray()[0] != 0;
        }
        return item.get("p") == null || item.get("p").s().matches("[0-9]+/.*|(letter|mark|key)/.*|counts");
    }

    @Test
    void a_reset_that_was_stopped_keeps_the_deployment_closed_until_it_is_run_again() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        reset(calm.function());
        StateAndMap.process(calm.function(), batch(0));
        engine.reduce();
        assertThatThrownBy(() -> Reset.run(
                        calm.function(),
                        _ -> {
                            throw new IllegalStateException("Stopped");
                        },
                        _ -> {}))
                .hasMessage("Stopped");
        assertThatThrownBy(() -> StateAndMap.process(calm.function(), batch(1)))
                .hasMessageContaining("closed", "onefold aws reset");
        assertThatThrownBy(() -> AwsEngine.deployed(calm.function()).query(Query.all("main")))
                .hasMessageContaining("onefold aws reset");
        assertThatThrownBy(() -> Restored.takeOver(calm.function())).hasMessageContaining("'onefold aws reset' again");
        reset(calm.function());
        StateAndMap.process(calm.function(), batch(1));
        engine.reduce();
        assertThat(engine.verify().isEqual()).isTrue();
        assertThat(Restored.isWhole(calm.function())).isTrue();
    }

    @Test
    void a_reset_that_sleeps_when_it_has_closed_purges_no_queue_of_the_next_run() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        StateAndMap.process(calm.function(), batch(0));
        engine.reduce();
        AtomicInteger purged = new AtomicInteger();
        assertThatThrownBy(() -> Reset.run(
                        calm.function(),
                        check -> {
                            check.run();
                            purged.incrementAndGet();
                            reset(calm.function());
                            check.run();
                            purged.incrementAndGet();
                        },
                        _ -> {}))
                .isInstanceOf(Reset.Overtaken.class);
        assertThat(purged).hasValue(1);
        assertThat(Restored.isWhole(calm.function())).isTrue();
    }

    @Test
    void a_reset_that_is_late_in_closing_leaves_what_came_after_another_one() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        StateAndMap.process(calm.function(), batch(0));
        boolean[] isLate = {false};
        SimulatedClient client = calm.dynamo.client("late");
        Store late = calm.store(client, new Waiting(calm.store(client).threads(), () -> {
            if (!isLate[0]) {
                isLate[0] = true;
                reset(calm.function());
                fold(calm);
            }
        }));
        assertThatThrownBy(() -> reset(late)).isInstanceOf(Reset.Overtaken.class);
        assertThat(isLate[0]).isTrue();
        assertThat(lines(engine)).isEqualTo(right());
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void a_reset_that_deletes_an_object_late_leaves_the_records_of_letters_that_came_after_another_one() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        fold(calm);
        boolean[] isLate = {false};
        SimulatedClient client = calm.dynamo.client("late");
        Store late = calm.store(client)
                .with(new Store.Bucket(
                        () -> {
                            if (!isLate[0]) {
                                isLate[0] = true;
                                reset(calm.function());
                                fold(calm);
                            }
                            return calm.bucket.client(client);
                        },
                        Optional.of("letters")));
        assertThatThrownBy(() -> reset(late)).isInstanceOf(Reset.Overtaken.class);
        assertThat(isLate[0]).isTrue();
        requireRecords(engine);
        assertThat(lines(engine)).isEqualTo(right());
    }

    @Test
    void of_resets_and_restores_that_begin_at_one_moment_one_comes_to_its_end_and_totals_are_answered() {
        Seeds.forAllSeeds(12, random -> {
            Life life = new Life(new SplittableRandom(random.nextLong()));
            fold(life.deployment);
            life.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            List<CompletableFuture<Void>> begun = new ArrayList<>();
            for (int each = 0; each < 3; each++) {
                Store store = life.deployment.function();
                Runnable task = random.nextBoolean() ? () -> Restored.takeOver(store) : () -> reset(store);
                life.time.schedule(life.upTo(Duration.ofMillis(20)), () -> begun.add(life.deployment.start(task)));
            }
            life.time.runFor(Duration.ofMinutes(1));
            assertThat(begun).allMatch(CompletableFuture::isDone);
            assertThat(begun).anyMatch(each -> !each.isCompletedExceptionally());
            fold(life.deployment);
            assertThat(lines(life.engine)).isEqualTo(right());
            assertThat(life.engine.verify().isEqual()).isTrue();
            requireRecords(life.engine);
        });
    }

    /// How many items it deleted.
    private static long reset(Store store) {
        return Reset.run(store, _ -> {}, _ -> {});
    }

    /// Threads of a process that does something else before it begins one.
    private record Waiting(Threads threads, Runnable before) implements Threads {
        @Override
        public void execute(Runnable task) {
            before.run();
            threads.execute(task);
        }

        @Override
        public void pause(Duration pause) {
            threads.pause(pause);
        }

        @Override
        public <T> T await(CompletableFuture<T> answer) {
            return threads.await(answer);
        }
    }

    @Test
    void a_reset_that_is_stopped_before_it_has_closed_has_changed_nothing() {
        boolean[] found = new boolean[2];
        Seeds.forAllSeeds(8, random -> {
            Deployment deployment = Deployment.calm();
            AwsEngine engine = deployment.engine(TradeFixtures.VALUES, LANES, GATES);
            fold(deployment);
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            SimulatedClient client = deployment.dynamo.client("reset");
            Store stopped = deployment.store(client);
            var _ = deployment.start(() -> {
                Reset.run(stopped, _ -> {}, _ -> {});
            });
            deployment.time.runFor(Duration.ofMillis(random.nextInt(1_000)));
            client.kill();
            deployment.time.runFor(Duration.ofMinutes(1));
            boolean isClosed = isClosed(deployment);
            found[isClosed ? 1 : 0] = true;
            if (isClosed) {
                assertThatThrownBy(() -> Restored.takeOver(deployment.function()))
                        .hasMessageContaining("'onefold aws reset' again");
            } else {
                assertThat(lines(engine)).isEqualTo(right());
            }
        });
        assertThat(found).as("reached: open, closed").containsExactly(true, true);
    }

    @Test
    void a_reset_that_was_stopped_when_it_had_opened_and_is_run_again_deletes_what_has_come_since() {
        AwsEngine engine = calm.engine(TradeFixtures.VALUES, LANES, GATES);
        calm.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        SimulatedClient client = calm.dynamo.client("reset");
        Store stopped = calm.store(client);
        CompletableFuture<Void> reset = calm.start(() -> {
            Reset.run(stopped, _ -> {}, _ -> {});
        });
        while (!isClosed(calm)) {
            calm.time.runFor(Duration.ofMillis(1));
        }
        while (isClosed(calm)) {
            calm.time.runFor(Duration.ofMillis(1));
        }
        client.kill();
        assertThat(reset).isNotDone();
        calm.dynamo.inject(Faults.none());
        StateAndMap.process(calm.function(), batch(1));
        assertThat(reset(calm.function())).isPositive();
        fold(calm);
        assertThat(lines(engine)).isEqualTo(right());
    }

    private static boolean isClosed(Deployment deployment) {
        return new Definitions(deployment.function())
                .findAnyhow()
                .orElseThrow()
                .incarnation()
                .tables()
                .contains("");
    }

    @Test
    void a_deployment_is_not_emptied_under_a_seeding() {
        calm.engine(TradeFixtures.VALUES, LANES, GATES);
        SeedLease lease = SeedLease.begin(calm.function(), 5);
        assertThatThrownBy(() -> reset(calm.function())).hasMessageContaining("A seeding of this deployment runs");
        assertThat(Reset.isUnderWay(calm.function())).isFalse();
        lease.close();
        reset(calm.function());
    }
}
