package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.DeliverFunction;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.Tally;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Hazards on the way from a message to its receiver, where a function ends in the middle or a receiver is
/// slow.
class AwsDeliveryHazardsTest {
    private static final int MESSAGES = 12;
    /// In which the passes of a tick are made.
    private static final Duration TICK = Duration.ofSeconds(45);

    private static final int MOMENTS = 60;

    private static List<String> messages() {
        return IntStream.range(0, MESSAGES).mapToObj(i -> "{\"id\":" + i + "}").toList();
    }

    /// Runs a function in an invocation that ends after a time, in the middle of whatever it does.
    private static void killed(DeliveriesAtWork work, int moment, Consumer<Store> function) {
        work.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        SimulatedClient client = work.deployment.dynamo.client("killed");
        Store store = work.deployment.process(client);
        work.deployment.time.after(Duration.ofMillis(2L * moment), client::kill);
        var _ = work.deployment.start(() -> function.accept(store));
        work.passed(Duration.ofMinutes(1));
        work.deployment.dynamo.inject(Faults.none());
    }

    private static void collect(DeliveriesAtWork work, Store store) {
        List<Arrival> arrivals = messages().stream()
                .map(body -> new Arrival("queue", "m" + body.hashCode(), 0, body.getBytes(StandardCharsets.UTF_8)))
                .toList();
        new Collect(store, work.pipeline, DeliveriesAtWork.LANES).collect(arrivals);
    }

    private static void requireAllOnce(DeliveriesAtWork work, int moment) {
        work.passed(Duration.ofMinutes(5));
        work.cut();
        work.passed(Duration.ofSeconds(10));
        work.deliver();
        assertThat(work.lines).as("killed at moment " + moment).containsExactlyInAnyOrderElementsOf(messages());
        assertThat(work.attempts)
                .extracting(Manifest::number)
                .isEqualTo(IntStream.rangeClosed(1, work.attempts.size())
                        .mapToObj(BatchNumber::of)
                        .toList());
        assertThat(work.attempts).allMatch(manifest -> manifest.records() > 0);
    }

    @Test
    void hazard_41_whenever_the_collector_is_killed_what_comes_again_is_delivered_and_is_no_duplicate_of_itself() {
        for (int moment = 0; moment < MOMENTS; moment++) {
            DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
            killed(work, moment, store -> collect(work, store));
            work.collect(messages().toArray(String[]::new));
            requireAllOnce(work, moment);
        }
    }

    @Test
    void hazard_70_whenever_the_cutter_is_killed_no_number_is_missing_and_none_is_without_content() {
        for (int moment = 0; moment < MOMENTS; moment++) {
            DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
            work.collect(messages().toArray(String[]::new));
            work.passed(Duration.ofMinutes(5));
            killed(work, moment, store -> {
                int _ = new Cutter(store, work.batching(), DeliveriesAtWork.LANES).run();
            });
            requireAllOnce(work, moment);
        }
    }

    @Test
    void hazard_45_an_invocation_that_ends_between_the_effect_and_its_note_hands_over_the_same_batch_again() {
        DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
        work.receiver = attempt -> work.attempts.size() == 1 ? attempt.die() : new Outcome.Done();
        work.seal(5);
        for (int minute = 0; minute < 60; minute++) {
            work.wake();
        }
        assertThat(work.attempts).hasSize(2);
        assertThat(work.attempts.getLast()).isEqualTo(work.attempts.getFirst());
        assertThat(work.state(1)).isEqualTo("done");
    }

    @Test
    void hazard_75_a_receiver_that_may_have_forgotten_the_batch_is_not_tried_again() {
        DeliveriesAtWork work = new DeliveriesAtWork(
                "{\"http\":\"http://host/x\",\"remembers\":\"1d\"}", "\"receiver\":\"idempotent\"");
        work.receiver = _ -> new Outcome.Unknown("no answer");
        work.seal(5);
        work.deliver();
        assertThat(work.attempts).hasSize(1);
        work.passed(Duration.ofDays(2));
        work.deliver();
        assertThat(work.attempts).as("the receiver knows the id no longer").hasSize(1);
        assertThat(work.state(1)).isIn("put aside", "in doubt");
    }

    @Test
    void a_process_with_a_call_that_does_not_return_ends_once_what_is_known_is_recorded() {
        for (boolean isLeft : List.of(true, false)) {
            DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"once\"");
            work.seal(5);
            List<String> ended = new ArrayList<>();
            List<Long> called = new ArrayList<>();
            Deliver.Receiver receiver = new Deliver.Receiver(
                    new DeliveryRules(work.batching(), null),
                    handover -> {
                        called.add(handover.manifest().number().number());
                        return new Outcome.Unknown("no answer");
                    },
                    () -> isLeft && !called.isEmpty());
            work.in(store -> new DeliverFunction(
                            store,
                            work.pipeline,
                            receiver,
                            new Metrics(new PrintStream(OutputStream.nullOutputStream()), "stack"),
                            () -> ended.add(new AwsBatches(store, new BatchDefinition(work.pipeline, 4))
                                    .find(BatchNumber.of(1))
                                    .orElseThrow()
                                    .state()))
                    .handle("{}".getBytes(StandardCharsets.UTF_8), () -> Duration.ofMinutes(15)));
            assertThat(ended).isEqualTo(isLeft ? List.of("in doubt") : List.of());
        }
    }

    @Test
    void a_process_with_a_call_that_does_not_return_ends_also_when_its_invocation_fails_and_does_nothing_when_thawed() {
        DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"once\"");
        work.seal(5);
        List<String> happened = new ArrayList<>();
        Deliver.Receiver receiver = new Deliver.Receiver(
                new DeliveryRules(work.batching(), null),
                _ -> {
                    happened.add("called");
                    return new Outcome.Unknown("no answer");
                },
                () -> happened.contains("called"));
        Supplier<Duration> failing = () -> {
            if (happened.contains("called")) {
                throw new IllegalStateException("The tables are throttled");
            }
            return Duration.ofMinutes(15);
        };
        for (int invocation = 1; invocation <= 2; invocation++) {
            boolean isThawed = invocation == 2;
            String failure = work.in(store -> {
                DeliverFunction function = new DeliverFunction(
                        store,
                        work.pipeline,
                        receiver,
                        new Metrics(new PrintStream(OutputStream.nullOutputStream()), "stack"),
                        () -> happened.add("ended"));
                try {
                    function.handle("{}".getBytes(StandardCharsets.UTF_8), failing);
                    return "";
                } catch (IllegalStateException e) {
                    return String.valueOf(e.getMessage());
                }
            });
            assertThat(failure).isEqualTo(isThawed ? "" : "The tables are throttled");
        }
        assertThat(happened).containsExactly("called", "ended", "ended");
    }

    @Test
    void hazard_76_a_slow_receiver_holds_up_neither_collecting_nor_sealing() {
        DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\",\"order\":\"strict\"");
        work.receiver = attempt -> {
            attempt.pause(Duration.ofMinutes(3));
            return new Outcome.Done();
        };
        work.seal(5);
        CompletableFuture<Integer> slow = work.begin();
        work.passed(Duration.ofSeconds(30));
        work.seal(10);
        assertThat(slow).isNotDone();
        assertThat(work.state(3)).isEqualTo("waiting");
        work.deployment.time.runUntil(slow);
    }

    @Test
    void ids_are_forgotten_also_behind_more_batches_that_wait_for_a_person_than_a_pass_takes_at_once() {
        int refused = 120;
        DeliveriesAtWork work = new DeliveriesAtWork(
                1,
                "\"receiver\":\"once\",\"order\":\"any\",\"concurrency\":40,\"retry\":\"none\",\"forget\":\"after-delivery\"");
        work.receiver = attempt -> attempt.number() <= refused ? new Outcome.Refused("no") : new Outcome.Done();
        sealAndDeliver(work, refused);
        forget(work);
        int done = 150;
        sealAndDeliver(work, done);
        forget(work);
        work.collect(IntStream.range(refused, refused + done)
                .mapToObj(id -> "{\"id\":" + id + ",\"v\":2}")
                .toArray(String[]::new));
        sealAndDeliver(work, 0);
        assertThat(work.attempts).as("each id came again").hasSize(refused + done + done);
    }

    @Test
    void a_large_batch_is_forgotten_in_parts_behind_more_batches_that_wait_than_a_pass_takes_at_once() {
        int refused = 110;
        int chunks = 300;
        DeliveriesAtWork work = new DeliveriesAtWork(
                1_000,
                "\"receiver\":\"once\",\"order\":\"any\",\"concurrency\":40,\"retry\":\"none\",\"forget\":\"after-delivery\"");
        work.receiver = attempt -> attempt.number() <= refused ? new Outcome.Refused("no") : new Outcome.Done();
        for (int i = 0; i < refused; i++) {
            work.collect("{\"id\":\"r" + i + "\"}");
            var _ = work.person(SealedBatches::seal);
        }
        sealAndDeliver(work, 0);
        forget(work);
        for (int i = 0; i < chunks; i++) {
            work.collect("{\"id\":\"p" + i + "\"}");
        }
        var _ = work.person(SealedBatches::seal);
        sealAndDeliver(work, 0);
        work.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int run = 0; run < 40; run++) {
            forget(work, Duration.ofMillis(200)); // Too short for all, in each of them.
        }
        work.deployment.dynamo.inject(Faults.none());
        int before = work.attempts.size();
        work.collect(IntStream.range(0, chunks)
                .mapToObj(i -> "{\"id\":\"p" + i + "\",\"v\":2}")
                .toArray(String[]::new));
        var _ = work.person(SealedBatches::seal);
        sealAndDeliver(work, 0);
        assertThat(work.attempts).hasSize(before + 1);
        assertThat(work.attempts.getLast().records()).as("each id came again").isEqualTo(chunks);
    }

    @Test
    @Tag("campaign")
    void a_tick_forgets_or_frees_more_batches_of_one_record_than_are_sealed_in_a_minute() {
        for (String forget : List.of("after-delivery", "never")) {
            DeliveriesAtWork work = new DeliveriesAtWork(
                    1,
                    "\"receiver\":\"idempotent\",\"order\":\"any\",\"concurrency\":40,\"forget\":\"" + forget + "\"");
            int batches = 2_000;
            sealAndDeliver(work, batches / 2);
            sealAndDeliver(work, batches / 2);
            if (forget.equals("never")) {
                work.passed(IdRemoval.KEPT.multipliedBy(2));
            }
            work.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            Instant begin = work.deployment.time.instant();
            forget(work, TICK);
            assertThat(Duration.between(begin, work.deployment.time.instant())).isLessThan(TICK);
            work.deployment.dynamo.inject(Faults.none());
            if (forget.equals("never")) {
                assertThat(work.keys())
                        .filteredOn(key -> key.startsWith("batch/"))
                        .hasSize(1);
            } else {
                work.collect(IntStream.range(0, batches)
                        .mapToObj(id -> "{\"id\":" + id + ",\"v\":2}")
                        .toArray(String[]::new));
                sealAndDeliver(work, 0);
                sealAndDeliver(work, 0);
                assertThat(work.lines.stream().filter(line -> line.endsWith("\"v\":2}")))
                        .as("each id came again")
                        .hasSize(batches);
            }
        }
    }

    @Test
    void a_batch_whose_content_takes_longer_to_write_than_attempts_may_begin_is_delivered_by_the_next_invocation() {
        Reading read = PipelineText.read("{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},"
                + "\"batch\":{\"size\":400,\"deliver\":{\"lambda\":\"load\"},\"receiver\":\"idempotent\"}}");
        DeliveriesAtWork work = new DeliveriesAtWork(((Reading.Read) read).pipeline());
        for (int id = 0; id < 400; id++) {
            work.collect("{\"id\":" + id + "}"); // A chunk each.
        }
        work.seal(0);
        work.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int tick = 0; tick < 2; tick++) {
            SimulatedClient client = work.deployment.dynamo.client("sandbox");
            Instant end = work.deployment.time.instant().plus(Duration.ofMillis(30_500)); // Half a second to begin.
            work.in(
                    client,
                    store -> work.deliverer(store, client)
                            .run(() -> Duration.between(work.deployment.time.instant(), end)));
            assertThat(work.attempts).hasSize(tick);
            work.passed(Duration.ofMinutes(1));
        }
    }

    @Test
    void a_batch_that_is_not_seen_yet_is_freed_when_it_is() {
        DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
        sealAndDeliver(work, 15);
        Map<String, AttributeValue> hidden = work.hide("batch/000002");
        work.passed(IdRemoval.KEPT.multipliedBy(2));
        forget(work);
        work.show(hidden);
        forget(work);
        requireOnlyLast(work, "hidden");
    }

    @Test
    void whenever_the_pass_is_killed_all_batches_but_the_last_one_are_freed() {
        for (int moment = 0; moment < MOMENTS; moment++) {
            DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
            sealAndDeliver(work, 15);
            work.passed(IdRemoval.KEPT.multipliedBy(2));
            killed(work, moment, store -> {
                BatchDefinition.openOrCreate(store, work.pipeline, DeliveriesAtWork.LANES);
                new IdRemoval(store, work.batching(), DeliveriesAtWork.LANES).run(Duration.ofHours(1));
            });
            forget(work);
            requireOnlyLast(work, "killed at moment " + moment);
        }
    }

    @Test
    void the_objects_that_were_written_for_a_receiver_are_removed_with_their_batch() {
        for (String destination : List.of("{\"lambda\":\"load\"}", "{\"s3\":\"s3://warehouse/{number}.ndjson.gz\"}")) {
            boolean isNamed = destination.contains("s3");
            DeliveriesAtWork work = new DeliveriesAtWork(
                    destination, isNamed ? "\"concurrency\":2" : "\"receiver\":\"idempotent\",\"bisect\":true");
            work.receiver = attempt ->
                    attempt.number() == 2 && attempt.handover().manifest().records() > 1
                            ? new Outcome.Refused("no")
                            : new Outcome.Done();
            sealAndDeliver(work, 15);
            if (isNamed) {
                work.settle(BatchNumber.of(2), Delivery.How.DISCARDED);
            }
            assertThat(work.deployment.bucket.size()).isEqualTo(isNamed ? 3 : 3 + 2 + 4 + 2);
            work.passed(IdRemoval.KEPT.multipliedBy(2));
            forget(work);
            assertThat(work.deployment.bucket.size())
                    .as("those of the last batch")
                    .isOne();
            work.passed(IdRemoval.KEPT.multipliedBy(2));
            expire(work);
            assertThat(work.deployment.bucket.versions()).as("also versions").isOne();
        }
    }

    /// What the rules of the template's bucket remove.
    private static void expire(DeliveriesAtWork work) {
        Matcher rules = Pattern.compile(
                        "Prefix: (\\S+)\\s+Status: Enabled\\s+NoncurrentVersionExpiration: \\{NoncurrentDays: (\\d+)\\}")
                .matcher(BatchTemplate.of(work.pipeline, BatchTemplate.Input.NEW_QUEUE)
                        .yaml());
        while (rules.find()) {
            work.deployment.bucket.expire(rules.group(1), Duration.ofDays(Long.parseLong(rules.group(2))));
        }
    }

    @Test
    void a_large_record_is_written_to_one_object_however_often_its_transaction_is_refused() {
        DeliveriesAtWork work = new DeliveriesAtWork("\"receiver\":\"idempotent\"");
        work.deployment.dynamo.inject(Faults.none().with(Fault.CONFLICT, 0.9));
        work.collect("{\"id\":1,\"text\":\"" + "x".repeat(400_000) + "\"}");
        work.deployment.dynamo.inject(Faults.none());
        assertThat(work.deployment.dynamo.tally().failures()).containsKey(Tally.Operation.TRANSACT_WRITE_ITEMS);
        assertThat(work.deployment.bucket.versions()).isOne();
    }

    @Test
    void a_pass_that_is_killed_within_a_batch_of_more_parts_than_a_transaction_removes_leaves_none_for_ever() {
        DeliveriesAtWork work = new DeliveriesAtWork(60, "\"receiver\":\"idempotent\",\"bisect\":true");
        work.receiver = attempt ->
                attempt.number() == 1 && attempt.handover().manifest().records() > 1
                        ? new Outcome.Refused("no")
                        : new Outcome.Done();
        sealAndDeliver(work, 120);
        assertThat(work.keys()).filteredOn(key -> key.startsWith("batch/")).hasSize(2 * 60);
        work.passed(IdRemoval.KEPT.multipliedBy(2));
        int[] removed = new int[1];
        work.deployment.dynamo.throttle(_ -> removed[0]++ >= 100); // After one transaction.
        killed(work, 20_000, store -> {
            BatchDefinition.openOrCreate(store, work.pipeline, DeliveriesAtWork.LANES);
            new IdRemoval(store, work.batching(), DeliveriesAtWork.LANES).run(Duration.ofHours(1));
        });
        work.deployment.dynamo.throttle(_ -> false);
        assertThat(work.keys()).filteredOn(key -> key.startsWith("batch/")).hasSize(21);
        forget(work);
        assertThat(work.keys()).filteredOn(key -> key.startsWith("batch/")).containsExactly("batch/000002");
    }

    @Test
    void a_request_that_fails_in_a_pass_costs_neither_what_was_done_before_it_nor_the_other_pass() {
        DeliveriesAtWork work =
                new DeliveriesAtWork(1_000, "\"receiver\":\"idempotent\",\"forget\":\"after-delivery\"");
        sealAndDeliver(work, 1_000);
        sealAndDeliver(work, 1_000);
        forget(work);
        work.passed(IdRemoval.KEPT.multipliedBy(2));
        int chunks = 300;
        for (int i = 0; i < chunks; i++) {
            work.collect("{\"id\":\"p" + i + "\"}");
        }
        var _ = work.person(SealedBatches::seal);
        sealAndDeliver(work, 0);
        int[] claims = new int[1];
        work.deployment.dynamo.throttleAlone(
                key -> key.get("k").b().asByteArray()[0] == 1 && claims[0]++ >= chunks - 50);
        assertThatThrownBy(() -> forget(work)).hasMessageContaining("throughput");
        work.deployment.dynamo.throttleAlone(_ -> false);
        assertThat(work.keys())
                .as("the other pass")
                .filteredOn(key -> key.startsWith("batch/"))
                .doesNotContain("batch/000001");
        long before = deletes(work);
        forget(work);
        assertThat(deletes(work) - before).as("claims that are left").isLessThan(chunks / 2);
    }

    private static long deletes(DeliveriesAtWork work) {
        return work.deployment.dynamo.tally().requests().getOrDefault(Tally.Operation.DELETE_ITEM, 0L);
    }

    private static void requireOnlyLast(DeliveriesAtWork work, String what) {
        work.seal(10);
        work.deliver();
        work.passed(IdRemoval.KEPT.multipliedBy(2));
        forget(work);
        assertThat(work.keys())
                .as(what)
                .filteredOn(key -> key.startsWith("batch/"))
                .containsExactly("batch/000005");
        assertThat(work.keys())
                .as(what)
                .filteredOn(key -> key.startsWith("chunk/"))
                .hasSize(1);
    }

    private static void sealAndDeliver(DeliveriesAtWork work, int records) {
        work.seal(records);
        work.passed(Duration.ofMinutes(5));
        while (work.deliver() > 0) {
            work.passed(Duration.ofSeconds(10));
        }
    }

    private static void forget(DeliveriesAtWork work) {
        forget(work, Duration.ofHours(1));
    }

    private static void forget(DeliveriesAtWork work, Duration most) {
        work.in(store -> {
            BatchDefinition.openOrCreate(store, work.pipeline, DeliveriesAtWork.LANES);
            new IdRemoval(store, work.batching(), DeliveriesAtWork.LANES).run(most);
            return true;
        });
    }
}
