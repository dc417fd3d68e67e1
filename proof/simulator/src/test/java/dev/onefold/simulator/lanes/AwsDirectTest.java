package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.batch.Collect.Fate;
import dev.onefold.aws.batch.Redrive;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.Tally;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The rules of direct delivery, one by one; [AwsBatchSimulation] meets what breaks them by chance.
class AwsDirectTest {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final Duration GONE = Duration.ofMinutes(10); // More than any invocation and its margin.
    private static final String IDEMPOTENT = "idempotent";
    private static final String ONCE = "once";

    private int messages;

    private static Pipeline pipeline(String receiver, String more) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":1"
                + ",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"" + receiver + "\"" + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static DeliveriesAtWork life(String receiver) {
        return new DeliveriesAtWork(pipeline(receiver, ",\"direct\":true"));
    }

    private Arrival message(String body) {
        return new Arrival("queue", "message-" + messages++, 0, body.getBytes(StandardCharsets.UTF_8));
    }

    private static String body(String id, int content) {
        return "{\"id\":\"" + id + "\",\"v\":" + content + "}";
    }

    private List<Fate> take(DeliveriesAtWork life, String... bodies) {
        Arrival[] arrivals = List.of(bodies).stream().map(this::message).toArray(Arrival[]::new);
        return life.deployment.time.runUntil(life.direct(WITHIN, arrivals));
    }

    private static List<String> keys(DeliveriesAtWork life) {
        return life.attempts.stream().map(Manifest::id).toList();
    }

    private static Map<String, AttributeValue> claim(DeliveriesAtWork life) {
        List<Map<String, AttributeValue>> claims = new ArrayList<>();
        life.in(store ->
                store.client().scan(request -> request.tableName(store.tables().rows())).join().items().stream()
                        .filter(item -> item.containsKey("h"))
                        .filter(claims::add)
                        .count());
        assertThat(claims).hasSize(1);
        return claims.getFirst();
    }

    @Test
    void a_new_record_is_handed_over_between_two_writes_of_its_claim_and_wakes_nobody() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        take(life, body("first", 1)); // Makes the definition.
        Tally tally = life.deployment.dynamo.tally();
        double before = tally.writeUnits();
        long transactions = tally.requests().getOrDefault(Tally.Operation.TRANSACT_WRITE_ITEMS, 0L);
        String[] bodies =
                IntStream.range(0, 100).mapToObj(i -> body("m" + i, i)).toArray(String[]::new);
        assertThat(take(life, bodies)).containsOnly(Fate.RECORDED);
        assertThat(life.lines).hasSize(101).contains(bodies);
        assertThat(keys(life)).doesNotHaveDuplicates();
        assertThat(tally.writeUnits() - before).isEqualTo(200);
        assertThat(tally.requests().getOrDefault(Tally.Operation.TRANSACT_WRITE_ITEMS, 0L))
                .isEqualTo(transactions);
        assertThat(life.<Long>person(batches -> batches.summary().sealed())).isZero();
    }

    @Test
    void a_record_that_comes_again_is_known_and_another_content_of_its_id_is_a_letter() {
        DeliveriesAtWork life = life(ONCE);
        assertThat(take(life, body("a", 1), body("a", 1), body("a", 2)))
                .containsExactly(Fate.RECORDED, Fate.RECORDED, Fate.CONFLICTING);
        assertThat(take(life, body("a", 1), body("a", 3))).containsExactly(Fate.RECORDED, Fate.CONFLICTING);
        assertThat(life.lines).containsExactly(body("a", 1));
        int letters = life.in(store -> new LetterTable(store).list(0, 10).size());
        assertThat(letters).isEqualTo(2);
    }

    @Test
    void hazard_6_a_start_mark_that_refuses_itself_is_its_owners() {
        DeliveriesAtWork life = life(ONCE);
        life.in(store -> BatchDefinition.openOrCreate(store, life.pipeline, DeliveriesAtWork.LANES));
        life.deployment.dynamo.inject(Faults.none().with(Fault.REPLY_LOST, 0.4));
        String[] bodies = IntStream.range(0, 30).mapToObj(i -> body("m" + i, i)).toArray(String[]::new);
        assertThat(take(life, bodies)).containsOnly(Fate.RECORDED);
        assertThat(life.lines).containsExactlyInAnyOrder(bodies);
    }

    @Test
    void hazard_91_what_was_marked_too_late_is_not_handed_over_and_moves_to_a_lane() {
        DeliveriesAtWork life = life(ONCE);
        long[] puts = new long[1];
        // Time for an attempt is left before the mark, and not behind it.
        Duration within = DeliveriesAtWork.LIMITS.attempt().plus(Duration.ofMillis(10_001));
        List<Fate> fates = life.deployment.time.runUntil(life.collecting(collect -> {
            life.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            puts[0] = puts(life);
            List<Fate> last =
                    collect.collect(List.of(message(body("a", 1))), within).fates();
            puts[0] = puts(life) - puts[0];
            return last;
        }));
        assertThat(fates).containsExactly(Fate.RECORDED);
        assertThat(puts[0]).as("start marks").isOne();
        assertThat(life.attempts).isEmpty();
        life.deployment.dynamo.inject(Faults.none());
        life.cut();
        life.passed(Duration.ofSeconds(10));
        assertThat(life.deliver()).isOne();
        assertThat(life.state(1)).isEqualTo("done");
        assertThat(take(life, body("a", 1))).containsExactly(Fate.RECORDED);
        assertThat(life.lines).containsExactly(body("a", 1));
    }

    private static long puts(DeliveriesAtWork life) {
        return life.deployment.dynamo.tally().requests().getOrDefault(Tally.Operation.PUT_ITEM, 0L);
    }

    @Test
    void what_is_not_done_at_once_is_a_batch_of_one_under_the_same_key_after_its_delay() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        life.receiver = attempt -> new Outcome.NotNow("busy", null);
        assertThat(take(life, body("a", 1))).containsExactly(Fate.RECORDED);
        assertThat(claim(life)).containsKeys("l", "c").doesNotContainKey("o");
        life.cut();
        life.passed(Duration.ofSeconds(10));
        assertThat(life.deliver()).as("its delay is a minute").isZero();
        assertThat(life.<Integer>person(
                        batches -> batches.find(BatchNumber.of(1)).orElseThrow().attempts()))
                .isOne();
        assertThat(life.<String>person(
                        batches -> batches.find(BatchNumber.of(1)).orElseThrow().id()))
                .isEqualTo(life.attempts.getFirst().id());
        life.receiver = attempt -> {
            assertThat(attempt.handover().attempt()).isEqualTo(2);
            return new Outcome.Done();
        };
        life.passed(Duration.ofMinutes(1));
        assertThat(life.deliver()).isOne();
        assertThat(keys(life)).hasSize(2).containsOnly(life.attempts.getFirst().id());
        assertThat(life.attempts.getLast().sha256())
                .isEqualTo(life.attempts.getFirst().sha256());
    }

    @Test
    void a_refused_record_is_put_aside_at_once_and_can_be_released() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        life.receiver = attempt -> new Outcome.Refused("poison");
        take(life, body("a", 1), body("b", 1));
        assertThat(life.attempts).as("a refusal says nothing of other records").hasSize(2);
        life.cut();
        life.passed(Duration.ofSeconds(10));
        assertThat(life.deliver()).isZero();
        assertThat(life.state(1)).isEqualTo("put aside");
        life.receiver = attempt -> new Outcome.Done();
        life.person(batches -> batches.release(BatchNumber.of(1)));
        assertThat(life.deliver()).isOne();
        assertThat(life.state(1)).isEqualTo("done");
    }

    @Test
    void hazard_74_of_a_receiver_that_is_once_an_unknown_outcome_is_in_doubt_until_a_person_decides() {
        DeliveriesAtWork life = life(ONCE);
        life.receiver = attempt -> new Outcome.Unknown("no answer");
        assertThat(take(life, body("a", 1))).containsExactly(Fate.RECORDED);
        life.cut();
        life.passed(Duration.ofSeconds(10));
        assertThat(life.deliver()).isZero();
        assertThat(life.state(1)).isEqualTo("in doubt");
        assertThatThrownBy(() -> life.person(batches -> batches.release(BatchNumber.of(1))))
                .hasMessageContaining("may still be under way");
        life.passed(GONE);
        life.receiver = attempt -> new Outcome.Done();
        life.person(batches -> batches.release(BatchNumber.of(1)));
        assertThat(life.deliver()).isOne();
        assertThat(keys(life)).hasSize(2).containsOnly(life.attempts.getFirst().id());
    }

    @Test
    void hazard_76_a_receiver_that_is_down_costs_an_invocation_some_attempts_and_intake_goes_on() {
        for (Outcome down : List.of(new Outcome.NotNow("busy", null), new Outcome.Unknown("no answer"))) {
            DeliveriesAtWork life = life(IDEMPOTENT);
            life.receiver = attempt -> {
                attempt.pause(Duration.ofSeconds(1));
                return down;
            };
            String[] bodies =
                    IntStream.range(0, 50).mapToObj(i -> body("m" + i, i)).toArray(String[]::new);
            assertThat(take(life, bodies)).containsOnly(Fate.RECORDED);
            assertThat(life.attempts).hasSize(4);
            life.cut();
            life.cut();
            life.receiver = attempt -> new Outcome.Done();
            for (int minute = 0; minute < 5; minute++) {
                life.passed(Duration.ofMinutes(1));
                life.deliver();
            }
            assertThat(life.<Long>person(batches -> batches.summary().undelivered()))
                    .isZero();
            assertThat(keys(life).stream().distinct()).hasSize(50);
        }
    }

    @Test
    void a_single_failure_moves_its_own_record_alone() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        life.receiver = attempt ->
                attempt.lines().getFirst().contains("m7\"") ? new Outcome.NotNow("busy", null) : new Outcome.Done();
        take(life, IntStream.range(0, 50).mapToObj(i -> body("m" + i, i)).toArray(String[]::new));
        assertThat(life.attempts).hasSize(50);
        assertThat(life.<Long>person(batches -> batches.summary().openRecords()))
                .isOne();
    }

    private void dieInAttempt(DeliveriesAtWork life, String body) {
        life.receiver = DeliveriesAtWork.Attempt::die;
        var _ = life.direct(WITHIN, message(body));
        life.passed(Duration.ofSeconds(20));
        life.receiver = attempt -> new Outcome.Done();
    }

    @Test
    void hazard_7_while_the_owner_of_a_start_mark_may_live_nothing_is_said_of_its_id() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        dieInAttempt(life, body("a", 1));
        assertThat(claim(life)).containsKey("o").doesNotContainKeys("l", "c");
        assertThat(take(life, body("a", 1), body("a", 2), body("b", 1)))
                .containsExactly(Fate.AGAIN, Fate.AGAIN, Fate.RECORDED);
        life.passed(GONE);
        assertThat(take(life, body("a", 2))).as("the other content waits").containsExactly(Fate.AGAIN);
        assertThat(take(life, body("a", 2), body("a", 1))).containsExactly(Fate.CONFLICTING, Fate.RECORDED);
        life.cut();
        life.passed(Duration.ofMinutes(2));
        assertThat(life.deliver()).isOne();
        assertThat(life.lines).containsExactly(body("a", 1), body("b", 1), body("a", 1));
        assertThat(keys(life).getFirst()).isEqualTo(keys(life).getLast());
    }

    @Test
    void hazard_5_of_a_receiver_that_is_once_a_start_mark_without_an_owner_is_in_doubt_and_not_tried() {
        DeliveriesAtWork life = life(ONCE);
        dieInAttempt(life, body("a", 1));
        life.passed(GONE);
        assertThat(take(life, body("a", 1))).containsExactly(Fate.RECORDED);
        life.cut();
        life.passed(Duration.ofMinutes(2));
        assertThat(life.deliver()).isZero();
        assertThat(life.state(1)).isEqualTo("in doubt");
        assertThat(life.lines).hasSize(1);
    }

    @Test
    void a_start_mark_is_taken_over_with_the_bytes_that_it_was_made_for_also_where_contents_are_not_compared() {
        DeliveriesAtWork life = new DeliveriesAtWork(pipeline(IDEMPOTENT, ",\"direct\":true,\"compare\":\"none\""));
        dieInAttempt(life, body("a", 1));
        life.passed(GONE);
        assertThat(take(life, body("a", 2))).containsExactly(Fate.AGAIN);
        assertThat(take(life, body("a", 1))).containsExactly(Fate.RECORDED);
        assertThat(take(life, body("a", 2))).containsExactly(Fate.RECORDED);
        life.cut();
        life.passed(Duration.ofMinutes(2));
        assertThat(life.deliver()).isOne();
        assertThat(life.lines).containsExactly(body("a", 1), body("a", 1));
    }

    @Test
    void a_letter_is_not_decided_while_its_id_is_being_handed_over() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        dieInAttempt(life, body("a", 1));
        assertThatThrownBy(() -> redrive(life, body("a", 2))).hasMessageContaining("try again");
        life.passed(GONE);
        assertThat(redrive(life, body("a", 1))).isInstanceOf(Redrive.Result.class);
        assertThat(redrive(life, body("a", 2))).isInstanceOf(Redrive.Result.Conflicting.class);
    }

    private Redrive.Result redrive(DeliveriesAtWork life, String body) {
        return life.in(
                store -> new Redrive(store, BatchDefinition.openOrCreate(store, life.pipeline, DeliveriesAtWork.LANES))
                        .redrive(message(body)));
    }

    @Test
    void hazard_1_two_invocations_with_one_message_hand_it_over_once() {
        DeliveriesAtWork life = life(ONCE);
        life.receiver = attempt -> {
            attempt.pause(Duration.ofSeconds(5));
            return new Outcome.Done();
        };
        var one = life.direct(WITHIN, message(body("a", 1)));
        var other = life.direct(WITHIN, message(body("a", 1)));
        List<Fate> fates = new ArrayList<>(life.deployment.time.runUntil(one));
        fates.addAll(life.deployment.time.runUntil(other));
        assertThat(fates).containsExactlyInAnyOrder(Fate.RECORDED, Fate.AGAIN);
        assertThat(life.lines).hasSize(1);
    }

    @Test
    void after_a_restore_that_has_lost_the_mark_of_a_record_it_is_handed_over_again_under_the_same_key() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        life.receiver =
                attempt -> attempt.lines().getFirst().contains("lane") ? new Outcome.Refused("x") : new Outcome.Done();
        String done = claimed(life, body("a", 1));
        String inLane = claimed(life, body("lane", 1));
        dieInAttempt(life, body("begun", 1));
        life.in(store ->
                BatchesRestored.takeOver(store, BatchesRestored.look(store).orElseThrow()));
        assertThat(take(life, body("a", 1), body("lane", 2), body("begun", 1)))
                .as("marks that are there count")
                .containsExactly(Fate.RECORDED, Fate.CONFLICTING, Fate.AGAIN);
        life.hide(done);
        life.hide(inLane);
        life.passed(GONE);
        life.in(store ->
                BatchesRestored.takeOver(store, BatchesRestored.look(store).orElseThrow()));
        life.receiver = attempt -> new Outcome.Done();
        assertThat(take(life, body("a", 1), body("lane", 1), body("begun", 1)))
                .containsExactly(Fate.RECORDED, Fate.RECORDED, Fate.RECORDED);
        life.passed(GONE);
        assertThat(life.lines.stream().filter(body("a", 1)::equals)).hasSize(2);
        assertThat(keys(life).stream().distinct()).as("each has one key").hasSize(3);
        assertThat(life.lines.stream().filter(body("lane", 1)::equals))
                .as("its claim was made again of its chunk")
                .hasSize(1);
    }

    /// The keys of the claims of ids that are new.
    private String claimed(DeliveriesAtWork life, String body) {
        List<String> before = life.keys();
        take(life, body);
        return life.keys().stream()
                .filter(key -> !before.contains(key))
                .filter(key -> !key.matches("(batches|chunk/.*|lane/.*|cut)"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_deployment_is_direct_for_its_life_because_a_receiver_knows_its_records_by_other_keys_then() {
        DeliveriesAtWork life = life(IDEMPOTENT);
        take(life, body("a", 1));
        Pipeline numbered = pipeline(IDEMPOTENT, "");
        assertThatThrownBy(
                        () -> life.in(store -> BatchDefinition.openOrCreate(store, numbered, DeliveriesAtWork.LANES)))
                .hasMessageContaining("stack of its own");
    }
}
