package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.Tally;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// State first reads rows as they may have been a while ago. What follows from an old row is refused by the
/// transaction, or true of the row that is there as well.
class LateReadsTest {
    private static final int KEYS = 60;
    private static final Faults LATE = Faults.none()
            .with(new Faults.Timing(
                    Duration.ofMillis(5),
                    Duration.ofMillis(10),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(2),
                    Duration.ofMinutes(1),
                    1,
                    Duration.ZERO));

    private static final Pipeline TRADES = TradeFixtures.COUNTS;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 3, 4);
    private int sequence;

    private List<Fate> process(int version, String desk) {
        List<Arrival> batch = IntStream.range(0, KEYS)
                .mapToObj(i -> "{\"id\":\"t%d\",\"v\":%d,\"desk\":\"%s\"}".formatted(i, version, desk))
                .map(record -> new Arrival("s/shard", "" + ++sequence, 0, record.getBytes(StandardCharsets.UTF_8)))
                .toList();
        return StateAndMap.process(deployment.store(deployment.dynamo.client("function")), batch);
    }

    private List<String> totals() {
        engine.reduce();
        return engine.query(new Query("main", List.of(), 1, null)).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    @Test
    void the_rows_of_a_batch_are_read_for_half_a_unit_each() {
        Tally tally = deployment.dynamo.tally();
        long before = tally.readUnits();
        process(1, "FX");
        assertThat(tally.readUnits() - before).isBetween(KEYS / 2L, KEYS / 2L + 2); // And the definition.
    }

    @Test
    void hazard_8_versions_that_follow_each_other_faster_than_reads_are_all_taken() {
        deployment.dynamo.inject(LATE);
        for (int version = 1; version <= 5; version++) {
            assertThat(process(version, "desk" + version)).allMatch(fate -> fate instanceof Fate.Accepted);
        }
        assertThat(totals()).containsExactly("=[" + KEYS + "]", "desk5=[" + KEYS + "]");
        assertThat(engine.verify().differences()).isEmpty();
    }

    @Test
    void what_is_older_than_the_row_that_was_read_late_is_stale_and_what_equals_it_changes_nothing() {
        deployment.dynamo.inject(LATE);
        process(2, "FX");
        process(3, "Rates");
        assertThat(process(1, "Bonds")).allMatch(fate -> fate instanceof Fate.Stale);
        assertThat(process(2, "FX")).allMatch(fate -> fate instanceof Fate.Stale || fate instanceof Fate.Duplicate);
        assertThat(totals()).containsExactly("=[" + KEYS + "]", "Rates=[" + KEYS + "]");
        assertThat(engine.deadLetters().size()).isZero();
    }

    @Test
    void hazard_8_a_conflict_with_a_row_that_is_there_no_more_is_none() {
        deployment.dynamo.inject(LATE);
        process(1, "Rates");
        process(2, "Rates");
        assertThat(process(1, "FX")).allMatch(fate -> fate instanceof Fate.Stale);
        assertThat(engine.deadLetters().size()).isZero();
    }

    /// A delta that a late read does not see yet waits to be added all the same.
    @Test
    void an_answer_right_behind_a_write_does_not_say_that_it_covers_what_it_lacks() {
        deployment.dynamo.inject(LATE);
        var client = deployment.dynamo.client("reader");
        AwsEngine reader = AwsEngine.deployed(deployment.store(client, 1, deployment.time, 60));
        for (int version = 1; version <= 15; version++) {
            String desk = "desk" + version;
            deployment.time.runFor(Duration.ofSeconds(6)); // No late read sees the deltas of before.
            process(version, desk);
            Instant written = deployment.time.instant();
            deployment.time.runFor(Duration.ofMillis(1_500)); // The service's time is known to a second.
            Answer answer = reader.query(Query.all("main"));
            boolean isIn = answer.lines().stream().anyMatch(line -> line.group().contains(desk));
            assertThat(isIn || !answer.cut().at().isAfter(written))
                    .as(
                            "%s, written at %s, answered as of %s",
                            desk, written, answer.cut().at())
                    .isTrue();
            engine.reduce();
        }
    }

    @Test
    void many_functions_that_start_at_once_make_each_gate_about_once() {
        Deployment fresh = Deployment.calm();
        fresh.dynamo.inject(LATE);
        Tally tally = fresh.dynamo.tally();
        int gates = 500;
        var made = IntStream.range(0, 20)
                .mapToObj(_ -> new Definitions(fresh.store(fresh.dynamo.client("function"))))
                .map(definitions -> fresh.start(() -> definitions.openOrCreate(TRADES, 3, gates)))
                .toList();
        made.forEach(definition -> assertThat(fresh.of(definition).gates()).isEqualTo(gates));
        assertThat(tally.requests().get(Tally.Operation.PUT_ITEM)).isLessThan(2 * gates);
    }

    @Test
    void a_definition_whose_maker_has_died_at_the_first_gate_is_made_by_another() {
        Deployment fresh = Deployment.calm();
        var dying = fresh.dynamo.client("dying");
        fresh.dynamo.inject(LATE);
        var _ = fresh.start(() -> new Definitions(fresh.store(dying)).openOrCreate(TRADES, 3, 50));
        fresh.time.runFor(Duration.ofMillis(30));
        dying.kill();
        var definitions = new Definitions(fresh.store(fresh.dynamo.client("function")));
        assertThat(definitions.openOrCreate(TRADES, 3, 50).gates()).isEqualTo(50);
    }

    @Test
    void a_writer_that_meets_an_old_gate_moves_that_gate_alone() {
        Deployment fresh = Deployment.calm();
        AwsEngine old = fresh.engine(TRADES, 3, 1_000);
        Tally tally = fresh.dynamo.tally();
        Definitions definitions = new Definitions(fresh.store(fresh.dynamo.client("person")));
        // The definition alone: its changer has died before it moved a gate.
        var now = definitions.load();
        var next = now.withView(TRADES, 1, "dead");
        fresh.of(fresh.dynamo
                .client("person")
                .putItem(request -> request.tableName(fresh.tables.rows()).item(next.item())));
        fresh.feed(
                old,
                IntStream.range(0, 300)
                        .mapToObj(i -> "{\"id\":\"t%d\",\"v\":1,\"desk\":\"FX\"}"
                                .formatted(i)
                                .getBytes(StandardCharsets.UTF_8))
                        .toList());
        assertThat(tally.requests().get(Tally.Operation.UPDATE_ITEM)).isLessThan(300);
        assertThat(definitions.load()).isEqualTo(next);
    }
}
