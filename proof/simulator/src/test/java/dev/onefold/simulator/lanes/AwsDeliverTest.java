package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.Deliver.Backlog;
import dev.onefold.aws.store.Store;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fixtures.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What the function that delivers does when its invocations die, and when there are several at a time.
class AwsDeliverTest {
    private static final String IDEMPOTENT = "\"receiver\":\"idempotent\"";
    private static final String ONCE = "\"receiver\":\"once\"";

    @Test
    void a_batch_that_ends_its_invocation_is_delivered_alone_and_after_its_delays_and_put_aside_at_last() {
        DeliveriesAtWork life = new DeliveriesAtWork(IDEMPOTENT + ",\"retry\":{\"delays\":[\"30m\"],\"for\":\"2h\"}");
        List<Integer> neighbours = new ArrayList<>();
        List<Long> underWay = new ArrayList<>();
        List<Long> begunMs = new ArrayList<>();
        life.receiver = attempt -> {
            if (attempt.number() == 2) {
                neighbours.add(underWay.size());
                begunMs.add(life.deployment.time.instant().toEpochMilli());
                underWay.clear();
                return attempt.die();
            }
            underWay.add(attempt.number());
            attempt.pause(Duration.ofSeconds(5));
            underWay.remove(attempt.number());
            return new Outcome.Done();
        };
        life.seal(20);
        for (int minute = 0; minute < 240 && !life.state(2).equals("put aside"); minute++) {
            life.wake();
            if (minute % 10 == 0) {
                life.seal(5);
            }
        }
        assertThat(life.state(2)).isEqualTo("put aside");
        assertThat(neighbours).hasSizeBetween(3, 4);
        assertThat(neighbours.subList(1, neighbours.size())).containsOnly(0);
        for (int i = 1; i < begunMs.size(); i++) {
            assertThat(begunMs.get(i) - begunMs.get(i - 1))
                    .isGreaterThanOrEqualTo(Duration.ofMinutes(30).toMillis());
        }
        life.wake();
        long undelivered = life.person(batches -> batches.summary().undelivered());
        assertThat(undelivered).isOne();
    }

    @Test
    void a_batch_that_ends_its_invocation_puts_its_neighbours_of_a_once_receiver_in_doubt_once() {
        DeliveriesAtWork life = new DeliveriesAtWork(ONCE);
        life.receiver = attempt -> {
            if (attempt.number() == 4) {
                attempt.pause(Duration.ofSeconds(1));
                return attempt.die();
            }
            attempt.pause(Duration.ofSeconds(5));
            return new Outcome.Done();
        };
        life.seal(20);
        for (int minute = 0; minute < 10; minute++) {
            life.wake();
        }
        assertThat(IntStream.rangeClosed(1, 4).mapToObj(life::state)).containsOnly("in doubt");
        for (int number = 1; number <= 4; number++) {
            BatchNumber released = BatchNumber.of(number);
            life.person(batches -> batches.release(released));
        }
        for (int minute = 0; minute < 10; minute++) {
            life.wake();
        }
        assertThat(IntStream.rangeClosed(1, 4).mapToObj(life::state))
                .containsExactly("done", "done", "done", "in doubt");
    }

    @Test
    @Tag("campaign")
    void invocations_at_the_same_time_deliver_as_many_batches_as_concurrency_says_and_not_more() {
        Seeds.forEachSeed(0, 20, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            DeliveriesAtWork life = new DeliveriesAtWork(IDEMPOTENT + ",\"concurrency\":2");
            life.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            List<Integer> most = new ArrayList<>();
            List<Long> underWay = new ArrayList<>();
            life.receiver = attempt -> {
                if (random.nextBoolean()) {
                    return new Outcome.NotNow("busy", Duration.ofSeconds(1));
                }
                underWay.add(attempt.number());
                most.add(underWay.size());
                attempt.pause(Duration.ofMillis(random.nextLong(1, 500)));
                underWay.remove(attempt.number());
                return new Outcome.Done();
            };
            life.seal(100);
            for (int i = 0; i < 400; i++) {
                var _ = life.begin();
                life.passed(Duration.ofMillis(random.nextLong(1, 200)));
            }
            life.passed(Duration.ofMinutes(1));
            assertThat(life.deliver()).isZero();
            assertThat(most).hasSize(20).contains(2).allMatch(count -> count <= 2);
        });
    }

    @Test
    void a_slot_that_another_version_of_the_code_has_left_is_taken_again() {
        for (boolean isThere : List.of(true, false)) {
            DeliveriesAtWork life =
                    new DeliveriesAtWork("\"receiver\":\"idempotent\",\"order\":\"any\",\"concurrency\":1");
            life.seal(10);
            assertThat(life.deliver()).isEqualTo(2);
            life.in(store -> store.client()
                    .putItem(request -> request.tableName(store.tables().deltas())
                            .item(Map.of(
                                    "l", AttributeValue.fromS("slot"),
                                    "i", AttributeValue.fromS("0001"),
                                    "b", AttributeValue.fromS(isThere ? "000002" : "000009"))))
                    .join());
            life.seal(5);
            assertThat(life.deliver()).isOne();
            life.seal(5);
            assertThat(life.deliver()).isOne();
            assertThat(life.delivered()).containsExactly(1L, 2L, 3L, 4L);
        }
    }

    @Test
    void an_invocation_beside_another_one_asks_once_whose_the_slots_are_that_it_does_not_get() {
        DeliveriesAtWork life = new DeliveriesAtWork("\"receiver\":\"idempotent\",\"order\":\"any\",\"concurrency\":4");
        life.receiver = attempt -> {
            if (attempt.number() <= 2) {
                attempt.pause(Duration.ofMinutes(2));
            }
            return new Outcome.Done();
        };
        life.seal(10);
        CompletableFuture<Integer> slow = life.begin();
        life.passed(Duration.ofSeconds(10));
        life.seal(100);
        long before = queries(life);
        int rounds = 1 + life.deliver() / 2; // Two slots are left; the last round finds nothing.
        assertThat(slow).isNotDone();
        assertThat(queries(life) - before)
                .as("the list and the slots in each round, and once all slots")
                .isEqualTo(2 * rounds + 1);
        life.deployment.time.runUntil(slow);
        assertThat(life.delivered()).hasSize(22);
    }

    private static long queries(DeliveriesAtWork life) {
        return life.deployment.dynamo.tally().requests().getOrDefault(Tally.Operation.QUERY, 0L);
    }

    @Test
    void the_end_of_a_delivery_leaves_its_slot_to_another_one_that_has_it_by_now() {
        DeliveriesAtWork life = new DeliveriesAtWork("\"receiver\":\"once\",\"order\":\"any\",\"concurrency\":1");
        life.receiver = attempt -> {
            attempt.pause(Duration.ofMinutes(1));
            return new Outcome.Done();
        };
        life.seal(5);
        CompletableFuture<Integer> delivery = life.begin();
        life.passed(Duration.ofSeconds(10));
        Map<String, AttributeValue> key = Map.of("l", AttributeValue.fromS("slot"), "i", AttributeValue.fromS("0001"));
        Map<String, AttributeValue> anothers = new TreeMap<>(key);
        anothers.put("b", AttributeValue.fromS("000099"));
        life.in(store -> store.client()
                .putItem(request -> request.tableName(store.tables().deltas()).item(anothers))
                .join());
        assertThat(life.deployment.time.runUntil(delivery)).isOne();
        assertThat(life.state(1)).isEqualTo("done");
        Map<String, AttributeValue> left =
                life.in(store -> store.get(store.tables().deltas(), key));
        assertThat(left).isEqualTo(anothers);
    }

    @Test
    void a_delivery_for_which_each_invocation_has_no_time_left_says_so() {
        DeliveriesAtWork life =
                new DeliveriesAtWork("\"receiver\":\"once\",\"retry\":{\"delays\":[\"10m\"],\"for\":\"3d\"}");
        life.seal(5);
        for (int invocation = 1; invocation <= 2; invocation++) {
            assertThat(late(life)).isZero();
            Line line = life.person(batches -> batches.find(BatchNumber.of(1)).orElseThrow());
            assertThat(line.state()).isEqualTo("waiting");
            assertThat(line.attempts()).isEqualTo(invocation - 1);
            if (invocation == 2) {
                assertThat(line.reason()).contains("2 invocations in a row had no time left");
            }
        }
        assertThat(life.attempts).isEmpty();
        life.passed(Duration.ofMinutes(11));
        assertThat(life.deliver()).isOne();
        assertThat(life.state(1)).isEqualTo("done");
    }

    /// An invocation whose time is over when all is ready.
    private static int late(DeliveriesAtWork life) {
        SimulatedClient client = life.deployment.dynamo.client("sandbox");
        int[] asked = new int[1];
        return life.in(
                client,
                store -> life.deliverer(store, client)
                        .run(() -> asked[0]++ == 0 ? DeliveriesAtWork.INVOCATION : Duration.ZERO));
    }

    @Test
    void an_attempt_that_was_begun_ends_the_row_of_those_for_which_no_time_was_left() {
        DeliveriesAtWork life = new DeliveriesAtWork(IDEMPOTENT);
        life.seal(5);
        assertThat(late(life)).isZero();
        life.receiver = attempt -> {
            attempt.client().kill();
            return new Outcome.Done();
        };
        life.wake();
        life.passed(Duration.ofHours(1));
        int _ = late(life); // It finds that the one before is gone.
        life.passed(Duration.ofHours(1));
        assertThat(late(life)).isZero();
        Line line = life.person(batches -> batches.find(BatchNumber.of(1)).orElseThrow());
        assertThat(line.state()).isEqualTo("waiting");
        assertThat(line.reason()).doesNotContain("in a row");
    }

    @Test
    void a_function_that_follows_a_receiver_with_compression_is_told_the_object_that_is_there() {
        DeliveriesAtWork life =
                new DeliveriesAtWork("{\"s3\":\"s3://warehouse/{number}.ndjson.gz\"}", "\"concurrency\":2");
        life.receiver = _ -> new Outcome.NotNow("busy", null);
        life.seal(5);
        assertThat(life.deliver()).isOne();
        life.passed(Duration.ofHours(1));
        Reading read = PipelineText.read("{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},"
                + "\"batch\":{\"size\":5,\"deliver\":{\"lambda\":\"load\"},\"receiver\":\"idempotent\"}}");
        Pipeline changed = ((Reading.Read) read).pipeline();
        List<String> told = new ArrayList<>();
        Deliver.Receiver receiver =
                new Deliver.Receiver(new DeliveryRules((Batching) changed.fold(), null), handover -> {
                    told.add(handover.object().orElseThrow().key() + " "
                            + handover.manifest().sha256());
                    return new Outcome.Done();
                });
        assertThat(life.<Integer>in(store -> new Deliver(
                                store,
                                changed,
                                receiver,
                                new Deliver.Limits(DeliveriesAtWork.MARGIN, Duration.ofSeconds(30)))
                        .run(() -> DeliveriesAtWork.INVOCATION)))
                .isOne();
        String hash = life.attempts.getFirst().sha256();
        assertThat(told).containsExactly("contents/000001-" + hash + ".gz " + hash);
    }

    @Test
    void with_strict_order_invocations_at_the_same_time_deliver_one_batch_after_the_other() {
        DeliveriesAtWork life = new DeliveriesAtWork(ONCE + ",\"order\":\"strict\"");
        List<String> steps = new ArrayList<>();
        life.receiver = attempt -> {
            steps.add("begin " + attempt.number());
            attempt.pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, 3_000)));
            steps.add("end " + attempt.number());
            return new Outcome.Done();
        };
        life.seal(30);
        List<CompletableFuture<Integer>> invocations =
                IntStream.range(0, 4).mapToObj(_ -> life.begin()).toList();
        invocations.forEach(invocation -> life.deployment.time.runUntil(invocation));
        life.deliver();
        assertThat(steps)
                .isEqualTo(IntStream.rangeClosed(1, 6)
                        .boxed()
                        .flatMap(number -> List.of("begin " + number, "end " + number).stream())
                        .toList());
    }

    @Test
    void what_a_person_has_ended_is_counted_and_stays_listed() {
        DeliveriesAtWork life = new DeliveriesAtWork(IDEMPOTENT + ",\"bisect\":true");
        life.receiver = attempt -> attempt.lines().contains("{\"id\":3}")
                ? new Outcome.Refused("poison")
                : attempt.number() == 2 ? new Outcome.Conflict("another") : new Outcome.Done();
        life.seal(15);
        life.deliver();
        List<Line> waiting = life.person(batches -> batches.list(BatchNumber.of(1), 100, true));
        assertThat(waiting).extracting(Line::state).containsExactly("put aside", "put aside");
        BatchNumber part = waiting.getFirst().number();
        assertThat(life.settle(part, Delivery.How.DISCARDED).state()).isEqualTo("discarded");
        assertThat(life.settle(BatchNumber.of(2), Delivery.How.SAID).state()).isEqualTo("done");
        assertThat(life.person(SealedBatches::summary))
                .returns(new SealedBatches.Decided(1, 1, 1), SealedBatches.Summary::decided)
                .returns(0L, SealedBatches.Summary::undelivered);
        List<Line> all = life.person(batches -> batches.list(BatchNumber.of(1), 100, false));
        assertThat(all.stream().filter(line -> line.reason().startsWith("A person ")))
                .extracting(line -> line.number() + " " + line.state())
                .containsExactly(part + " discarded", "000002 done");
        Line shown = life.person(batches -> batches.find(part).orElseThrow());
        assertThat(shown.reason()).startsWith("A person discarded it at 2030-01-01T");
    }

    @Test
    void a_person_whose_clock_is_ahead_releases_nothing_that_may_be_under_way() {
        DeliveriesAtWork life = new DeliveriesAtWork(ONCE);
        life.receiver = _ -> new Outcome.Unknown("no answer");
        life.seal(5);
        life.deliver();
        life.passed(Duration.ofMinutes(1));
        assertThatThrownBy(() ->
                        life.in(store -> person(life, ahead(life, store)).release(BatchNumber.of(1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may still be under way");
        life.passed(DeliveriesAtWork.INVOCATION.plus(DeliveriesAtWork.MARGIN));
        assertThat(life.in(store -> person(life, ahead(life, store)).release(BatchNumber.of(1)))
                        .state())
                .isEqualTo("waiting");
        life.deliver();
        assertThat(life.delivered()).as("due by the clock of the service").containsExactly(1L, 1L);
    }

    private static Store ahead(DeliveriesAtWork life, Store store) {
        return new Store(
                store.client(),
                store.tables(),
                store.threads(),
                store.random(),
                () -> life.deployment.time.instant().plus(Duration.ofHours(1)));
    }

    private static AwsBatches person(DeliveriesAtWork life, Store store) {
        return new AwsBatches(store, new BatchDefinition(life.pipeline, 4));
    }

    @Test
    void a_batch_whose_predecessor_is_not_seen_yet_waits_and_holds_up_no_other_one() {
        DeliveriesAtWork life = new DeliveriesAtWork(IDEMPOTENT);
        life.seal(15);
        SimulatedClient client = life.deployment.dynamo.client("sandbox");
        Map<String, AttributeValue> hidden = life.hide("batch/000001");
        Backlog backlog = life.in(client, store -> life.deliverer(store, client).backlog());
        assertThat(backlog.oldestSealedMs()).as("not known yet").isEmpty();
        assertThat(life.deliver()).isOne();
        assertThat(life.delivered()).containsExactly(3L);
        life.show(hidden);
        assertThat(life.deliver()).isEqualTo(2);
        assertThat(life.delivered()).containsExactlyInAnyOrder(3L, 1L, 2L);
    }
}
