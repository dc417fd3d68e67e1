package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Collect.Fate;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Decisions;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.Deliver.Handover;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.batch.Redrive;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.simulator.deployment.Deployment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The hazards of batches on AWS, one by one; [AwsBatchSimulation] meets them by chance.
class AwsBatchHazardsTest {
    private static final int LANES = 4;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Deliver.Limits LIMITS = new Deliver.Limits(LONG, Duration.ofSeconds(30));

    private final Deployment deployment = Deployment.calm();
    private final List<String> effects = new ArrayList<>();
    private final Deque<Outcome> answers = new ArrayDeque<>();

    private static Pipeline pipeline(String receiver) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":5,"
                + "\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},\"order\":\"strict\",\"receiver\":\""
                + receiver + "\"}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private <T> T in(Function<Store, T> function) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("sandbox"));
        var _ = deployment.start(() -> done.complete(function.apply(store))).exceptionally(failure -> {
            done.completeExceptionally(failure.getCause());
            return null;
        });
        return deployment.time.runUntil(done);
    }

    private List<Fate> collect(String... bodies) {
        List<Arrival> arrivals = IntStream.range(0, bodies.length)
                .mapToObj(i -> new Arrival("queue", "m" + i, 0, bodies[i].getBytes(StandardCharsets.UTF_8)))
                .toList();
        return in(store ->
                new Collect(store, pipeline("once"), LANES).collect(arrivals).fates());
    }

    @Test
    void a_csv_header_that_comes_again_is_in_no_batch_and_holds_up_no_record() {
        String text =
                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"csv\",\"columns\":[\"id\",\"n\"],\"id\":\"id\"},"
                        + "\"batch\":{\"size\":5,\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},"
                        + "\"receiver\":\"idempotent\"}}";
        Pipeline csv = ((Reading.Read) PipelineText.read(text)).pipeline();
        List<Arrival> arrivals = List.of(
                new Arrival("queue", "m0", 0, "id,n".getBytes(StandardCharsets.UTF_8)),
                new Arrival("queue", "m1", 0, "a,1".getBytes(StandardCharsets.UTF_8)));
        List<Fate> fates =
                in(store -> new Collect(store, csv, LANES).collect(arrivals).fates());
        assertThat(fates).containsExactly(Fate.RECORDED, Fate.RECORDED);
        Long open = in(store -> {
            BatchDefinition.openOrCreate(store, csv, LANES);
            return AwsBatchEngine.deployed(store).batches().summary().openRecords();
        });
        assertThat(open).isEqualTo(1);
    }

    private static String message(int number) {
        return "{\"id\":\"" + number + "\"}";
    }

    private int cut() {
        return in(store -> new Cutter(store, (Batching) pipeline("once").fold(), LANES).run());
    }

    private Outcome take(Handover handover) {
        try (var content = handover.content().get()) {
            effects.add(handover.manifest().id() + " "
                    + new String(content.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .count());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return answers.isEmpty() ? new Outcome.Done() : answers.poll();
    }

    private Deliver deliverer(Store store, String receiver) {
        Pipeline pipeline = pipeline(receiver);
        return new Deliver(
                store,
                pipeline,
                new Deliver.Receiver(new DeliveryRules((Batching) pipeline.fold(), null), this::take),
                LIMITS);
    }

    private int deliver(String receiver, Supplier<Duration> timeLeft) {
        deployment.time.runFor(Duration.ofSeconds(10)); // Clocks differ by three seconds.
        return in(store -> deliverer(store, receiver).run(timeLeft));
    }

    private boolean release(int generation) {
        return in(store -> new Decisions(store).release(BatchNumber.of(1), generation));
    }

    private List<Decisions.Held> held() {
        return in(store -> new Decisions(store).held());
    }

    @Test
    void hazard_42_a_message_whose_own_claim_refuses_it_is_recorded_once() {
        deployment.dynamo.inject(Faults.none().with(Fault.REPLY_LOST, 0.4));
        assertThat(collect(message(1), message(2), message(1))).containsOnly(Fate.RECORDED);
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(LONG);
        assertThat(cut()).isOne();
        deliver("once", () -> LONG);
        assertThat(effects).containsExactly("orders-000001 2");
    }

    @Test
    void hazard_43_and_71_whatever_reads_lag_behind_all_members_are_in_the_batch() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        assertThat(collect(IntStream.range(0, 5)
                        .mapToObj(AwsBatchHazardsTest::message)
                        .toArray(String[]::new)))
                .containsOnly(Fate.RECORDED);
        assertThat(cut()).isOne();
        deliver("once", () -> LONG);
        assertThat(effects).containsExactly("orders-000001 5");
    }

    @Test
    void hazard_44_and_72_a_late_member_goes_into_the_next_batch() {
        collect(message(1), message(2));
        deployment.time.runFor(LONG);
        assertThat(cut()).isOne();
        collect(message(2), message(3));
        deliver("once", () -> LONG);
        assertThat(cut()).isZero();
        deployment.time.runFor(LONG);
        assertThat(cut()).isOne();
        deliver("once", () -> LONG);
        assertThat(effects).containsExactly("orders-000001 2", "orders-000002 1");
    }

    @Test
    void hazard_46_a_bad_body_is_a_letter_of_its_own_and_its_neighbours_go_on() {
        assertThat(collect(message(1), "{\"id\":", message(2), "{\"id\":\"1\",\"v\":2}"))
                .containsExactly(Fate.RECORDED, Fate.REJECTED, Fate.RECORDED, Fate.CONFLICTING);
        assertThat(collect(message(1), "{\"id\":", message(2), "{\"id\":\"1\",\"v\":2}"))
                .containsExactly(Fate.RECORDED, Fate.REJECTED, Fate.RECORDED, Fate.CONFLICTING);
        List<DeadLetter> letters = in(store -> new LetterTable(store).list(0, 10));
        assertThat(letters).extracting(DeadLetter::reason).containsExactlyInAnyOrder(Reason.MALFORMED, Reason.CONFLICT);
    }

    @Test
    void hazard_73_wake_ups_that_are_early_doubled_or_missing_change_nothing() {
        assertThat(cut()).isZero();
        collect(message(1));
        assertThat(Collections.nCopies(20, 0)).allMatch(_ -> cut() == 0);
        deployment.time.runFor(LONG);
        assertThat(cut()).isOne();
        assertThat(cut()).isZero();
    }

    @Test
    void hazard_74_a_once_receiver_whose_answer_is_lost_is_in_doubt_and_released_only_when_its_owner_is_dead() {
        collect(message(1));
        deployment.time.runFor(LONG);
        cut();
        answers.add(new Outcome.Unknown("no answer"));
        assertThat(deliver("once", () -> LONG)).isOne();
        deployment.time.runFor(Duration.ofMinutes(8));
        assertThat(deliver("once", () -> LONG)).isZero();
        assertThatThrownBy(() -> release(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may still be under way");
        deployment.time.runFor(Duration.ofMinutes(3));
        assertThat(release(2)).as("another generation").isFalse();
        assertThat(release(1)).isTrue();
        assertThat(deliver("once", () -> LONG)).isOne();
        assertThat(effects).containsExactly("orders-000001 1", "orders-000001 1");
        assertThat(held()).isEmpty();
    }

    @Test
    void hazard_74_an_idempotent_receiver_whose_answer_is_lost_gets_the_same_batch_again() {
        collect(message(1));
        deployment.time.runFor(LONG);
        cut();
        answers.add(new Outcome.Unknown("no answer"));
        deliver("idempotent", () -> LONG);
        deployment.time.runFor(LONG);
        deliver("idempotent", () -> LONG);
        assertThat(effects).containsExactly("orders-000001 1", "orders-000001 1");
    }

    @Test
    void hazard_91_an_attempt_for_which_no_time_is_left_after_its_mark_is_not_made() {
        collect(message(1));
        deployment.time.runFor(LONG);
        cut();
        Deque<Duration> left = new ArrayDeque<>(List.of(LONG, LONG, Duration.ofSeconds(29)));
        assertThat(deliver("once", left::poll)).isZero();
        assertThat(effects).isEmpty();
        assertThat(deliver("once", () -> LONG)).isOne();
        assertThat(effects).containsExactly("orders-000001 1");
    }

    private static Pipeline forgetting(String forget) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":5,"
                + "\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"once\",\"forget\":\""
                + forget
                + "\"}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private List<Fate> collect(Pipeline pipeline, String message, String body) {
        Arrival arrival = new Arrival(
                "queue",
                message,
                0,
                body.getBytes(StandardCharsets.UTF_8),
                deployment.time.instant().toEpochMilli());
        return in(store ->
                new Collect(store, pipeline, LANES).collect(List.of(arrival)).fates());
    }

    private void cutDeliverAndForget(Pipeline pipeline) {
        deployment.time.runFor(LONG);
        int _ = in(store -> new Cutter(store, (Batching) pipeline.fold(), LANES).run());
        deliver("once", () -> LONG);
        forget(pipeline);
    }

    @Test
    void hazard_92_a_message_that_comes_again_when_its_id_is_forgotten_is_in_no_second_batch_and_a_new_one_is() {
        Pipeline pipeline = forgetting("after-delivery");
        collect(pipeline, "m-1", message(1));
        assertThat(collect(pipeline, "m-2", message(1))).as("a duplicate").containsExactly(Fate.RECORDED);
        assertThat(collect(pipeline, "m-3", "{\"id\":\"1\",\"v\":2}")).containsExactly(Fate.CONFLICTING);
        cutDeliverAndForget(pipeline);
        for (String again : List.of("m-1", "m-2", "m-3")) {
            assertThat(collect(pipeline, again, message(1))).containsExactly(Fate.RECORDED);
        }
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 1");
        assertThat(collect(pipeline, "m-4", "{\"id\":\"1\",\"v\":3}")).containsExactly(Fate.RECORDED);
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 1", "orders-000002 1");
    }

    @Test
    void the_letter_of_a_conflict_can_be_redriven_once_the_id_is_forgotten_and_is_in_one_batch() {
        Pipeline pipeline = forgetting("after-delivery");
        collect(pipeline, "m-1", message(1));
        collect(pipeline, "m-2", "{\"id\":\"1\",\"v\":2}");
        assertThat(redrive(pipeline, "m-2", "{\"id\":\"1\",\"v\":2}")).isInstanceOf(Redrive.Result.Conflicting.class);
        cutDeliverAndForget(pipeline);
        for (int times = 0; times < 2; times++) {
            assertThat(redrive(pipeline, "m-2", "{\"id\":\"1\",\"v\":2}"))
                    .isNotInstanceOf(Redrive.Result.Conflicting.class);
            cutDeliverAndForget(pipeline);
        }
        assertThat(effects).containsExactly("orders-000001 1", "orders-000002 1");
    }

    @Test
    void a_letter_is_redriven_whose_id_was_claimed_longer_ago_than_ids_are_kept() {
        Pipeline pipeline = forgetting("15d");
        collect(pipeline, "m-1", message(1));
        deployment.time.runFor(Duration.ofDays(16));
        assertThat(redrive(pipeline, "m-2", "{\"id\":\"1\",\"v\":2}")).isInstanceOf(Redrive.Result.Collected.class);
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 2");
    }

    @Test
    void a_letter_that_is_redriven_again_when_its_id_is_forgotten_is_in_no_second_batch() {
        Pipeline pipeline = forgetting("15d");
        for (int times = 0; times < 2; times++) {
            // As if the process had died before it removed the letter.
            assertThat(redrive(pipeline, "m-1", message(1))).isNotInstanceOf(Redrive.Result.Conflicting.class);
            cutDeliverAndForget(pipeline);
            deployment.time.runFor(Duration.ofDays(16));
        }
        assertThat(effects).containsExactly("orders-000001 1");
        collect(pipeline, "m-2", message(1));
        cutDeliverAndForget(pipeline);
        assertThat(effects).as("another message").containsExactly("orders-000001 1", "orders-000002 1");
    }

    @Test
    void a_message_that_comes_again_after_its_letter_was_redriven_and_forgotten_is_in_no_second_batch() {
        for (boolean isMarked : List.of(true, false)) {
            Pipeline pipeline = forgetting("after-delivery");
            String mine = isMarked ? "m-2" : "m-3"; // Of the other one, Collect died before it marked the message.
            String body = "{\"id\":\"" + mine + "\",\"v\":2}";
            if (isMarked) {
                collect(pipeline, "m-1", "{\"id\":\"" + mine + "\",\"v\":1}");
                assertThat(collect(pipeline, mine, body)).containsExactly(Fate.CONFLICTING);
                cutDeliverAndForget(pipeline);
            }
            effects.clear();
            assertThat(redrive(pipeline, mine, body)).isInstanceOf(Redrive.Result.Collected.class);
            cutDeliverAndForget(pipeline);
            assertThat(effects).hasSize(1);
            assertThat(collect(pipeline, mine, body)).containsExactly(Fate.RECORDED);
            assertThat(redrive(pipeline, mine, body)).isInstanceOf(Redrive.Result.Known.class);
            cutDeliverAndForget(pipeline);
            assertThat(effects).as("marked before: " + isMarked).hasSize(1);
        }
    }

    private Redrive.Result redrive(Pipeline pipeline, String message, String body) {
        Arrival letter = new Arrival("queue", message, 0, body.getBytes(StandardCharsets.UTF_8));
        return in(store -> new Redrive(store, BatchDefinition.openOrCreate(store, pipeline, LANES)).redrive(letter));
    }

    @Test
    void two_letters_of_one_record_are_in_one_batch_though_both_messages_come_again() {
        Pipeline pipeline = forgetting("after-delivery");
        // Two messages brought it while its id was claimed. Collect died before it marked them.
        assertThat(redrive(pipeline, "m-1", message(1))).isInstanceOf(Redrive.Result.Collected.class);
        assertThat(redrive(pipeline, "m-2", message(1))).isInstanceOf(Redrive.Result.Known.class);
        cutDeliverAndForget(pipeline);
        for (String again : List.of("m-1", "m-2")) {
            assertThat(collect(pipeline, again, message(1))).containsExactly(Fate.RECORDED);
            assertThat(redrive(pipeline, again, message(1))).isInstanceOf(Redrive.Result.Known.class);
            cutDeliverAndForget(pipeline);
        }
        assertThat(effects).containsExactly("orders-000001 1");
    }

    @Test
    void a_redrive_that_fails_between_two_marks_is_done_again_whole() {
        for (int fails = 1; fails <= 2; fails++) {
            Pipeline pipeline = forgetting("after-delivery");
            effects.clear();
            String first = "m-1" + fails;
            String second = "m-2" + fails;
            String body = message(fails);
            assertThat(redrive(pipeline, first, body)).isInstanceOf(Redrive.Result.Collected.class);
            int failing = fails;
            Set<Map<String, AttributeValue>> put = new HashSet<>();
            deployment.dynamo.throttleAlone(item -> {
                put.add(item);
                return put.size() >= failing;
            });
            assertThatThrownBy(() -> redrive(pipeline, second, body)).isInstanceOf(RuntimeException.class);
            deployment.dynamo.throttleAlone(_ -> false);
            assertThat(redrive(pipeline, second, body)).isInstanceOf(Redrive.Result.Known.class);
            cutDeliverAndForget(pipeline);
            assertThat(collect(pipeline, second, body)).containsExactly(Fate.RECORDED);
            cutDeliverAndForget(pipeline);
            assertThat(effects).as("write " + fails + " fails").hasSize(1);
        }
    }

    @Test
    void a_letter_whose_message_came_again_as_a_duplicate_is_in_no_second_batch() {
        Pipeline pipeline = forgetting("after-delivery");
        assertThat(collect(pipeline, "m-1", message(1))).containsExactly(Fate.RECORDED);
        // It has a letter from the time when its id was claimed with another content.
        assertThat(collect(pipeline, "m-2", message(1))).containsExactly(Fate.RECORDED);
        cutDeliverAndForget(pipeline);
        assertThat(redrive(pipeline, "m-2", message(1))).isInstanceOf(Redrive.Result.Known.class);
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 1");
    }

    @Test
    void a_letter_that_was_a_duplicate_is_none_when_its_id_is_forgotten_and_it_was_not_removed() {
        Pipeline pipeline = forgetting("15d");
        assertThat(collect(pipeline, "m-1", message(1))).containsExactly(Fate.RECORDED);
        assertThat(redrive(pipeline, "m-2", message(1))).isInstanceOf(Redrive.Result.Known.class);
        cutDeliverAndForget(pipeline);
        deployment.time.runFor(Duration.ofDays(16));
        var _ = redrive(pipeline, "m-2", message(1));
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 1");
    }

    @Test
    void a_claim_that_was_recreated_stays_when_its_forgotten_batch_is_passed_again() {
        Pipeline pipeline = forgetting("after-delivery");
        collect(pipeline, "m-1", message(1));
        cutDeliverAndForget(pipeline);
        collect(pipeline, "m-2", message(1));
        var client = deployment.dynamo.client("operator");
        deployment.time.runUntil(client.deleteItem(request -> request.tableName(deployment.tables.rows())
                .key(RowItem.other("forgotten")))); // As if the pass had died before it noted how far it was.
        forget(pipeline);
        assertThat(collect(pipeline, "m-3", "{\"id\":\"1\",\"v\":2}")).containsExactly(Fate.CONFLICTING);
    }

    private void forget(Pipeline pipeline) {
        in(store -> {
            BatchDefinition.openOrCreate(store, pipeline, LANES);
            new IdRemoval(store, (Batching) pipeline.fold(), LANES).run(Duration.ofHours(1));
            return true;
        });
    }

    @Test
    void a_batch_that_waits_for_a_person_keeps_its_ids_and_its_content() {
        Pipeline pipeline = forgetting("after-delivery");
        collect(pipeline, "m-1", message(1));
        answers.add(new Outcome.Refused("no"));
        cutDeliverAndForget(pipeline);
        assertThat(held()).hasSize(1);
        deployment.time.runFor(IdRemoval.KEPT.multipliedBy(3));
        assertThat(collect(pipeline, "m-2", "{\"id\":\"1\",\"v\":2}")).containsExactly(Fate.CONFLICTING);
        cutDeliverAndForget(pipeline);
        assertThat(release(1)).isTrue();
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 1", "orders-000001 1");
        assertThat(collect(pipeline, "m-3", "{\"id\":\"1\",\"v\":3}")).containsExactly(Fate.RECORDED);
    }

    @Test
    void after_a_time_an_id_may_come_again_whether_its_batch_is_delivered_or_not() {
        Pipeline pipeline = forgetting("15d");
        collect(pipeline, "m-1", message(1));
        deployment.time.runFor(Duration.ofDays(15));
        collect(pipeline, "m-2", message(1));
        deployment.time.runFor(Duration.ofMinutes(1));
        collect(pipeline, "m-3", message(1));
        collect(pipeline, "m-3", message(1));
        cutDeliverAndForget(pipeline);
        assertThat(effects).containsExactly("orders-000001 2");
    }

    @Test
    void with_strict_order_a_batch_that_waits_for_a_person_holds_up_the_next_one() {
        collect(IntStream.range(0, 10).mapToObj(AwsBatchHazardsTest::message).toArray(String[]::new));
        assertThat(cut()).isEqualTo(2);
        answers.add(new Outcome.Refused("no"));
        deliver("once", () -> LONG);
        assertThat(effects).hasSize(1);
        assertThat(held()).hasSize(1);
        assertThat(held().getFirst().delivery()).isInstanceOf(Delivery.Aside.class);
        boolean isSettled = in(store -> new Decisions(store).settle(BatchNumber.of(1), 1, Delivery.How.DISCARDED));
        assertThat(isSettled).isTrue();
        deliver("once", () -> LONG);
        assertThat(effects).containsExactly("orders-000001 5", "orders-000002 5");
    }
}
