package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.Tally.Operation;
import dev.onefold.fakes.aws.table.Change;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Schedules in which a dead letter on AWS would be lost, or be there twice. Each was found by [AwsSimulation], or in
/// making it nastier; the number before a test is the hazard's.
class LetterHazardsTest {
    private static final Pipeline TRADES = TradeFixtures.COUNTS;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 2, 2);
    private int sequence;

    private void process(String... records) {
        for (String record : records) {
            StateAndMap.process(deployment.store(deployment.dynamo.client("function")), List.of(arrival(record)));
        }
    }

    private Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private static String trade(String desk) {
        return "{\"id\":\"a\",\"v\":1,\"desk\":\"" + desk + "\"}";
    }

    private List<DeadLetter> letters() {
        return engine.deadLetters().list(0, 99);
    }

    private static boolean isLetter(Change change) {
        return Objects.requireNonNull(change.key().get("p")).s().startsWith("letter/");
    }

    private String edit() {
        return engine.deadLetters()
                .edited(1)
                .map(edit -> new String(edit, StandardCharsets.UTF_8))
                .orElse("");
    }

    private String record(long id) {
        return new String(engine.deadLetters().record(id), StandardCharsets.UTF_8);
    }

    @Test
    void hazard_12_the_loser_of_a_conflict_loses_again_when_it_is_redriven_and_stays_the_letter_that_it_is() {
        process(trade("Rates"), trade("FX"));
        assertThat(engine.deadLetters().redrive(1, null)).isEqualTo(Redriven.CONFLICTING);
        assertThat(letters()).extracting(DeadLetter::id).containsExactly(1L);
        assertThat(record(1)).isEqualTo(trade("FX"));
    }

    @Test
    void hazard_12_what_was_read_of_a_loser_is_no_record_and_stays_one_letter_when_it_is_redriven() {
        process(trade("FX"), trade("Rates"));
        String read = record(1);
        assertThat(engine.deadLetters().redrive(1, null)).isEqualTo(Redriven.NO_RECORD);
        assertThat(letters()).singleElement().satisfies(letter -> {
            assertThat(letter.id()).isEqualTo(1);
            assertThat(letter.reason()).isEqualTo(Reason.CONFLICT);
        });
        assertThat(record(1)).isEqualTo(read);
    }

    @Test
    void hazard_12_an_edit_that_loses_a_conflict_is_kept_beside_the_record_that_was_edited() {
        process(trade("Rates"), "poison");
        assertThat(engine.deadLetters().redrive(1, trade("FX").getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(Redriven.CONFLICTING);
        assertThat(letters()).extracting(DeadLetter::reason).containsExactly(Reason.CONFLICT);
        assertThat(record(1)).isEqualTo("poison");
        assertThat(edit()).isEqualTo(trade("FX"));
    }

    /// 12, seed 131809: the letter comes before the transaction, and may be redriven in between.
    @Test
    void hazard_12_a_loser_that_is_redriven_before_its_winner_is_in_is_kept_when_it_loses_again() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 1));
        List<Arrival> batch = List.of(arrival(trade("Rates")), arrival(trade("FX")));
        SimulatedClient sandbox = deployment.dynamo.client("sandbox");
        deployment.dynamo.onWrite(deployment.tables.letters(), change -> {
            if (isLetter(change)) {
                sandbox.kill();
            }
        });
        var _ = deployment.start(() -> StateAndMap.process(deployment.store(sandbox), batch));
        deployment.time.runFor(Duration.ofSeconds(10));
        assertThat(engine.deadLetters().redrive(1, null)).isEqualTo(Redriven.ACCEPTED);
        StateAndMap.process(deployment.store(deployment.dynamo.client("function")), batch);
        assertThat(letters()).extracting(DeadLetter::reason).containsExactly(Reason.CONFLICT);
        assertThat(record(letters().getFirst().id())).isEqualTo(trade("FX"));
    }

    @Test
    void hazard_25_whenever_a_function_is_killed_each_letter_that_is_there_has_its_record() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 1));
        int listed = 0;
        for (int millis = 1; millis < 150; millis++) {
            SimulatedClient sandbox = deployment.dynamo.client("sandbox");
            List<Arrival> batch = List.of(arrival("poison " + millis));
            var _ = deployment.start(() -> StateAndMap.process(deployment.store(sandbox), batch));
            deployment.time.runFor(Duration.ofMillis(millis));
            sandbox.kill();
            for (DeadLetter letter : engine.deadLetters().list(listed, 99)) {
                assertThat(record(letter.id())).startsWith("poison");
                listed = (int) letter.id();
            }
        }
        assertThat(listed).isPositive();
    }

    /// 5: the record that one has just put back is what the other is about to remove.
    @Test
    void of_two_people_who_redrive_a_letter_at_once_with_and_without_an_edit_none_loses_its_record() {
        process("poison");
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int round = 0; round < 60; round++) {
            String before = edit();
            String edit = "poison " + round;
            Person one = redriving(edit);
            Person other = redriving(null);
            while (!one.isGone() || !other.isGone()) {
                deployment.time.runFor(Duration.ofMillis(50));
            }
            assertThat(one.failure()).isNull();
            assertThat(other.failure()).isNull();
            assertThat(record(1)).isEqualTo("poison");
            assertThat(edit()).isIn(before, edit);
        }
        assertThat(deployment.bucket.size()).isEqualTo(2);
    }

    /// 5: who reads finds the record that is there now.
    @Test
    void whoever_reads_a_letter_whose_edit_is_replaced_meanwhile_has_one_of_the_two() {
        process("poison");
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int round = 0; round < 60; round++) {
            Person one = redriving("poison " + round);
            while (!one.isGone()) {
                assertThat(record(1)).isEqualTo("poison");
                if (round > 0) {
                    assertThat(edit()).startsWith("poison ");
                }
            }
            assertThat(one.failure()).isNull();
        }
    }

    @Test
    void a_letter_is_found_by_the_key_of_its_record_although_a_page_is_empty() {
        process("{\"id\":\"a\",\"v\":1}");
        deployment.dynamo.inject(Faults.none().with(Fault.EMPTY_PAGE, 1));
        assertThat(engine.deadLetters().ofKey(List.of("a"), 10)).hasSize(1);
    }

    @Test
    void a_loser_whose_mark_is_throttled_is_tried_again_after_pauses() {
        process(trade("Rates"), "poison");
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        deployment.dynamo.throttle(item -> item.containsKey("p")
                && item.get("p").s() != null
                && item.get("p").s().startsWith("mark/"));
        Person person = Person.begin(deployment.time, me -> {
            AwsEngine mine = AwsEngine.deployed(deployment.store(deployment.dynamo.client("person"), me));
            assertThat(mine.deadLetters().redrive(1, trade("FX").getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(Redriven.CONFLICTING);
        });
        deployment.time.runFor(Duration.ofSeconds(20));
        assertThat(deployment.dynamo.tally().failures().getOrDefault(Operation.TRANSACT_WRITE_ITEMS, 0L))
                .isBetween(5L, 40L);
        deployment.dynamo.throttle(_ -> false);
        deployment.time.runFor(Duration.ofSeconds(5));
        assertThat(person.isGone()).isTrue();
        assertThat(person.failure()).isNull();
    }

    private Person redriving(@Nullable String edit) {
        return Person.begin(deployment.time, me -> {
            AwsEngine mine = AwsEngine.deployed(deployment.store(deployment.dynamo.client("person"), me));
            byte[] record = edit == null ? null : edit.getBytes(StandardCharsets.UTF_8);
            assertThat(mine.deadLetters().redrive(1, record)).isEqualTo(Redriven.REJECTED);
        });
    }

    /// 10. The arrival is the stream's, and it is the same at each delivery.
    @Test
    void hazard_10_with_a_horizon_a_record_that_is_delivered_late_is_judged_by_its_arrival() {
        Deployment timed = Deployment.calm();
        AwsEngine counting = timed.engine(
                PipelineBuilder.named("timed")
                        .id("id")
                        .time("at")
                        .horizon(Duration.ofDays(1))
                        .rollup(r -> r.count("n").max("last", "id", 9, 0)) // On AWS no id is forgotten.
                        .build(),
                3,
                4);
        Instant arrived = Instant.parse("2030-01-10T00:00:00Z");
        List<Arrival> batch = List.of(
                timed("1", "2030-01-09T00:00:00Z", arrived),
                timed("2", "2030-01-08T23:59:59Z", arrived),
                timed("3", "2030-01-11T00:00:00Z", arrived),
                timed("4", "2030-01-11T00:00:01Z", arrived));
        for (int year = 0; year < 3; year++) {
            StateAndMap.process(timed.store(timed.dynamo.client("function")), batch);
            counting.reduce();
            timed.time.runFor(Duration.ofDays(365));
        }
        assertThat(counting.query(Query.all("main")).lines())
                .extracting(line -> line.values().toString())
                .containsExactly("[2, 3]");
        assertThat(counting.deadLetters().list(0, 9))
                .extracting(DeadLetter::reason)
                .containsExactlyInAnyOrder(Reason.TOO_OLD, Reason.TOO_NEW);
        counting.deadLetters()
                .list(0, 9)
                .forEach(letter -> assertThat(counting.deadLetters().redrive(letter.id(), null, DeadLetters.Keys.ANY))
                        .isEqualTo(DeadLetters.Redriven.REJECTED));
    }

    private static Arrival timed(String id, String at, Instant arrived) {
        byte[] data = ("{\"id\":" + id + ",\"at\":\"" + at + "\"}").getBytes(StandardCharsets.UTF_8);
        return new Arrival("s/shard", "9" + id, 0, data, arrived.toEpochMilli());
    }
}
