package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The tables are restored, and then once more to the same backups: the first time was the wrong moment, or something
/// else went wrong. What the first restore began is lost, and its numbers are given again.
class RestoresInARowTest {
    private static final Pipeline TRADES = TradeFixtures.VALUES;
    private static final int LANES = 3;
    private static final int DESKS = 40;
    private static final Duration RESTORE = Duration.ofMinutes(5);

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, LANES, 4);
    private int sequence;

    private Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private void process(Arrival... batch) {
        StateAndMap.process(deployment.function(), List.of(batch));
    }

    private Arrival[] trades() {
        return IntStream.range(0, 3 * DESKS)
                .mapToObj(i ->
                        arrival("{\"id\":\"t%d\",\"v\":1,\"desk\":\"desk%d\",\"value\":1}".formatted(i, i % DESKS)))
                .toArray(Arrival[]::new);
    }

    private String total() {
        engine.reduce();
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    private Definition definition() {
        return new Definitions(deployment.function()).load();
    }

    private Backup[] backups() {
        Store.Tables tables = deployment.tables;
        return Stream.of(tables.rows(), tables.deltas(), tables.totals(), tables.letters())
                .map(deployment.dynamo::backup)
                .toArray(Backup[]::new);
    }

    private void restore(Backup... backups) {
        Stream.of(backups).forEach(backup -> deployment.dynamo.restore(backup, RESTORE));
        deployment.time.runFor(RESTORE);
        Restored.begin(deployment.function());
        engine.rebuild();
    }

    /// Upkeep is stopped while it deletes the totals of a view, and what it has sent arrives minutes later.
    @Test
    void whoever_cleans_a_view_away_from_before_the_second_restore_deletes_nothing_after_it() {
        process(trades());
        engine.reduce();
        Backup[] all = backups();
        restore(all);
        int lost = definition().served();
        engine.rebuild();
        Faults usual = Faults.none().with(Faults.Timing.USUAL);
        deployment.dynamo.inject(usual);
        boolean[] stopped = {false};
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            if (change.after() == null && change.before().get("p").s().startsWith(lost + "/") && !stopped[0]) {
                stopped[0] = true;
                deployment.dynamo.inject(usual.with(Fault.ZOMBIE, 1));
            }
        });
        SimulatedClient zombie = deployment.dynamo.client("zombie");
        var _ = deployment.start(() -> Upkeep.step(deployment.store(zombie), TRADES, 0, () -> true, _ -> {}));
        deployment.time.runFor(Duration.ofSeconds(10));
        assertThat(stopped[0]).as("whether it was deleting").isTrue();
        zombie.kill();
        deployment.dynamo.inject(Faults.none());
        restore(all);
        assertThat(total()).isEqualTo("[120.00, 120]");
        deployment.time.runFor(Duration.ofMinutes(30));
        assertThat(total()).isEqualTo("[120.00, 120]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    /// Somebody has written down which letters there were.
    @Test
    void the_ids_of_letters_that_are_lost_are_not_given_again() {
        process(arrival("poison"));
        Backup[] all = backups();
        for (int restore = 0; restore < 2; restore++) {
            process(arrival("poison " + restore), arrival("more poison " + restore));
            List<Long> lost = engine.deadLetters().list(1, 10).stream()
                    .map(DeadLetter::id)
                    .toList();
            assertThat(lost).isNotEmpty();
            restore(all);
            process(arrival("later poison " + restore), arrival("even later poison " + restore));
            assertThat(engine.deadLetters().list(1, 10))
                    .hasSize(2)
                    .extracting(DeadLetter::id)
                    .doesNotContainAnyElementsOf(lost);
            assertThat(engine.deadLetters().purge(lost)).isZero();
        }
    }
}
