package dev.onefold.core.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Delivery.Part;
import dev.onefold.core.batch.Delivery.Waiting;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.DeliveryRules.Attempt;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeliveryRulesTest {
    private static final long START = 1_000_000;

    private static Batching batching(String more) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":10,"
                + "\"deliver\":{\"http\":\"http://host/x\"}," + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> (Batching) pipeline.fold();
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static DeliveryRules rules(String more) {
        return new DeliveryRules(batching(more), null);
    }

    private static Delivery next(DeliveryRules rules, Delivery delivery, Outcome outcome, long nowMs) {
        return rules.after(
                new Attempt(BatchNumber.of(7), Members.all(10), rules.begin((Waiting) delivery, "me", nowMs)),
                outcome,
                nowMs);
    }

    @Test
    void the_last_delay_repeats_until_the_time_since_the_first_try_has_passed() {
        DeliveryRules rules =
                rules("\"receiver\":\"idempotent\",\"retry\":{\"delays\":[\"10s\",\"60s\"],\"for\":\"5m\"}");
        Delivery delivery = DeliveryRules.sealed(START);
        List<Long> tried = new ArrayList<>();
        while (delivery instanceof Waiting waiting) {
            tried.add((waiting.notBeforeMs() - START) / 1_000);
            delivery = next(rules, waiting, new Outcome.Unknown("no answer"), waiting.notBeforeMs());
        }
        assertThat(tried).containsExactly(0L, 10L, 70L, 130L, 190L, 250L);
        assertThat(delivery)
                .isEqualTo(new Delivery.Aside(
                        delivery.tries(), START + 250_000, "6 attempts failed, the last one: no answer", false));
    }

    @Test
    void a_receiver_that_asks_to_wait_is_obeyed_but_not_beyond_the_time_for_retries() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\",\"retry\":{\"delays\":[\"10s\"],\"for\":\"5m\"}");
        Delivery asked =
                next(rules, DeliveryRules.sealed(START), new Outcome.NotNow("busy", Duration.ofMinutes(4)), START);
        assertThat(asked).isInstanceOf(Waiting.class);
        assertThat(((Waiting) asked).notBeforeMs()).isEqualTo(START + 240_000);
        assertThat(next(rules, asked, new Outcome.NotNow("busy", Duration.ofMinutes(4)), START + 240_000))
                .isInstanceOf(Delivery.Aside.class);
    }

    @Test
    void without_retries_one_failure_puts_a_batch_aside() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\",\"retry\":\"none\"");
        assertThat(next(rules, DeliveryRules.sealed(START), new Outcome.Unknown("gone"), START))
                .isInstanceOf(Delivery.Aside.class);
    }

    @Test
    void an_unknown_end_of_a_delivery_that_cannot_be_repeated_is_in_doubt_and_a_definite_failure_is_not() {
        DeliveryRules rules = rules("\"receiver\":\"once\"");
        assertThat(rules.needsStartMark()).isTrue();
        assertThat(next(rules, DeliveryRules.sealed(START), new Outcome.Unknown("time-out"), START))
                .isInstanceOf(Delivery.InDoubt.class);
        assertThat(next(rules, DeliveryRules.sealed(START), new Outcome.NotNow("refused", null), START))
                .isInstanceOf(Waiting.class);
        Delivery.Started started = rules.begin((Waiting) DeliveryRules.sealed(START), "me", START);
        assertThat(rules.ownerIsGone(started, "the process ended", START)).isInstanceOf(Delivery.InDoubt.class);
    }

    @Test
    void a_receiver_that_forgets_ids_is_not_tried_again_once_it_may_have_forgotten_one_that_is_perhaps_in() {
        DeliveryRules rules = new DeliveryRules(
                batching("\"receiver\":\"idempotent\",\"retry\":{\"delays\":[\"50m\"],\"for\":\"3d\"}"),
                Duration.ofHours(1));
        Delivery once = next(rules, DeliveryRules.sealed(START), new Outcome.Unknown("time-out"), START);
        assertThat(once).isInstanceOf(Waiting.class);
        Delivery twice = next(rules, once, new Outcome.NotNow("503", null), START + 3_000_000);
        assertThat(twice).isInstanceOf(Delivery.InDoubt.class);
        Delivery never = next(rules, DeliveryRules.sealed(START), new Outcome.NotNow("503", null), START);
        assertThat(next(rules, never, new Outcome.NotNow("503", null), START + 3_000_000))
                .as("no attempt can have had an effect")
                .isInstanceOf(Waiting.class);
    }

    @Test
    void halving_finds_each_poison_record_and_delivers_all_others_once() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\",\"bisect\":true");
        for (Set<Integer> poison : List.of(Set.of(0), Set.of(3), Set.of(9), Set.of(2, 3), Set.of(0, 5, 9))) {
            Set<Integer> delivered = new TreeSet<>();
            Set<Integer> aside = new TreeSet<>();
            Deque<Part> todo = new ArrayDeque<>();
            todo.add(new Part(BatchNumber.of(1), Members.all(10), DeliveryRules.sealed(START)));
            while (!todo.isEmpty()) {
                Part part = todo.remove();
                List<Integer> records = records(part.members());
                Outcome outcome =
                        records.stream().anyMatch(poison::contains) ? new Outcome.Refused("bad") : new Outcome.Done();
                Delivery.Started started = rules.begin((Waiting) part.delivery(), "me", START);
                switch (rules.after(new Attempt(part.number(), part.members(), started), outcome, START)) {
                    case Delivery.Done _ ->
                        assertThat(delivered.addAll(records)).isTrue();
                    case Delivery.Aside _ -> aside.addAll(records);
                    case Delivery.Divided divided -> todo.addAll(divided.parts());
                    case Delivery other -> throw new AssertionError(other);
                }
            }
            assertThat(aside).isEqualTo(poison);
            assertThat(delivered).hasSize(10 - poison.size()).doesNotContainAnyElementsOf(poison);
        }
    }

    private static List<Integer> records(Members members) {
        return members.ranges().stream()
                .flatMap(range -> IntStream.range(range.from(), range.to()).boxed())
                .toList();
    }

    @Test
    void a_time_out_never_halves_a_batch() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\",\"bisect\":true,\"retry\":\"none\"");
        assertThat(next(rules, DeliveryRules.sealed(START), new Outcome.Unknown("time-out"), START))
                .isInstanceOf(Delivery.Aside.class);
    }

    @Test
    void records_that_failed_alone_are_tried_again_alone_and_keep_their_attempts() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\",\"retry\":{\"delays\":[\"10s\"],\"for\":\"15s\"}");
        Outcome partial = new Outcome.Partial(List.of(new Outcome.Failed(2, "no"), new Outcome.Failed(5, "no")));
        Delivery divided = next(rules, DeliveryRules.sealed(START), partial, START);
        assertThat(divided).isInstanceOf(Delivery.Divided.class);
        Part part = ((Delivery.Divided) divided).parts().getFirst();
        assertThat(part.number()).hasToString("000007.1");
        assertThat(records(part.members())).containsExactly(2, 5);
        Delivery.Started again = rules.begin((Waiting) part.delivery(), "me", START + 10_000);
        assertThat(again.tries().count()).isEqualTo(2);
        assertThat(rules.after(
                        new Attempt(part.number(), part.members(), again),
                        new Outcome.Partial(List.of(new Outcome.Failed(0, "no"), new Outcome.Failed(1, "no"))),
                        START + 10_000))
                .isInstanceOf(Delivery.Aside.class);
    }

    @Test
    void a_report_of_records_that_were_not_handed_over_is_no_answer() {
        DeliveryRules rules = rules("\"receiver\":\"idempotent\"");
        Outcome strange = new Outcome.Partial(List.of(new Outcome.Failed(10, "no")));
        assertThat(next(rules, DeliveryRules.sealed(START), strange, START)).isInstanceOf(Waiting.class);
    }

    @Test
    void only_what_waits_for_a_person_is_settled_and_what_waits_for_a_later_time_is_released_too() {
        Delivery due = DeliveryRules.sealed(START);
        assertThatThrownBy(() -> DeliveryRules.release(due, START)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DeliveryRules.settle(due, Delivery.How.SAID, START))
                .isInstanceOf(IllegalArgumentException.class);
        Delivery.Tries tries = new Delivery.Tries(3, START - 9, 2, true);
        assertThat(DeliveryRules.release(new Waiting(tries, START + 1, "closed"), START))
                .isEqualTo(new Waiting(tries, START, "closed"));
        Delivery aside = new Delivery.Aside(Delivery.Tries.NONE, START, "no", false);
        assertThat(DeliveryRules.release(aside, START).tries().generation()).isEqualTo(2);
        assertThat(DeliveryRules.settle(aside, Delivery.How.SAID, START).isEnded())
                .isTrue();
    }

    @Test
    void nothing_is_delivered_again_that_the_receiver_may_have_and_may_have_forgotten() {
        DeliveryRules rules =
                new DeliveryRules(batching("\"receiver\":\"idempotent\",\"bisect\":true"), Duration.ofDays(1));
        assertThat(rules.needsStartMark()).isTrue();
        Delivery.Started started = rules.begin((Waiting) DeliveryRules.sealed(START), "me", START);
        Waiting again = (Waiting) rules.ownerIsGone(started, "the process ended", START);
        long day = Duration.ofDays(1).toMillis();
        assertThat(rules.tooLate(again, "me", START + day - 1)).isEmpty();
        assertThat(rules.tooLate(again, "me", START + day)).get().isInstanceOf(Delivery.InDoubt.class);
    }

    @Test
    void a_batch_that_may_be_in_is_not_divided() {
        DeliveryRules rules = new DeliveryRules(batching("\"receiver\":\"idempotent\",\"bisect\":true"), null);
        assertThat(rules.needsStartMark())
                .as("else nobody knows after a kill that it may be in")
                .isTrue();
        Delivery.Started started = rules.begin((Waiting) DeliveryRules.sealed(START), "me", START);
        Attempt first = new Attempt(BatchNumber.of(7), Members.all(10), started);
        Waiting again = (Waiting) rules.after(first, new Outcome.Unknown("late"), START);
        Attempt second = new Attempt(BatchNumber.of(7), Members.all(10), rules.begin(again, "me", START + 60_000));
        assertThat(rules.after(second, new Outcome.Refused("no"), START + 60_000))
                .isInstanceOf(Delivery.Aside.class);
    }

    @Test
    void a_receiver_may_ask_for_any_time() {
        DeliveryRules rules = new DeliveryRules(batching("\"receiver\":\"idempotent\""), null);
        Delivery.Started started = rules.begin((Waiting) DeliveryRules.sealed(START), "me", START);
        Attempt attempt = new Attempt(BatchNumber.of(7), Members.all(10), started);
        for (Duration asked : List.of(Duration.ZERO, Duration.ofMillis(-5), Duration.ofMillis(1))) {
            assertThat(((Waiting) rules.after(attempt, new Outcome.NotNow("no", asked), START)).notBeforeMs())
                    .isEqualTo(START + 1_000);
        }
        for (Duration asked : List.of(Duration.ofSeconds(Long.MAX_VALUE), Duration.ofMillis(Long.MAX_VALUE))) {
            assertThat(rules.after(attempt, new Outcome.NotNow("no", asked), START))
                    .isInstanceOf(Delivery.Aside.class);
        }
    }
}
