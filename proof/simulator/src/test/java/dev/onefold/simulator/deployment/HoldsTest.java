package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Readers whose answers take long, one after the other and beside each other, and a restore between them.
class HoldsTest {
    private static final Duration RESTORE = Duration.ofMinutes(5);

    private final BusyTrades life = new BusyTrades();
    private final Deployment deployment = life.deployment;

    private Header.Hold hold() {
        return Objects.requireNonNull(life.headers().getFirst().hold());
    }

    private CompletableFuture<TotalsReads.Reading> read(String reader, Duration page) {
        return life.read(deployment.dynamo.client(reader), () -> page);
    }

    /// The first reader is done, and renews its hold no more. The copies end with it.
    @Test
    @Tag("campaign")
    void a_reader_that_comes_in_the_last_seconds_of_a_hold_is_not_overtaken_again_and_again() {
        life.live(5);
        deployment.of(read("first", Duration.ofSeconds(3)));
        Instant until = hold().until();
        CompletableFuture<TotalsReads.Reading> second =
                life.read(deployment.dynamo.client("second"), () -> until(until, deployment.time.instant()));
        Instant patience = until.plusSeconds(15);
        deployment.time.runFor(Duration.between(deployment.time.instant(), patience));
        assertThat(second).isDone();
        assertThat(BusyTrades.trades(second.join())).isPositive();
        life.end();
    }

    /// How long a page takes, so that two attempts are overtaken just before the end of a hold.
    private static Duration until(Instant end, Instant now) {
        Duration left = Duration.between(now, end);
        return left.toMillis() > 5_000
                ? left.minusMillis(3_000)
                : left.toMillis() > 1_000 ? Duration.ofSeconds(1) : Duration.ofSeconds(3);
    }

    /// Its process was stopped for a while, and wakes up.
    @Test
    @Tag("campaign")
    void a_hold_that_has_ended_is_not_renewed() {
        life.live(2);
        SimulatedClient sleeper = deployment.dynamo.client("sleeper");
        Duration[] stopped = {Duration.ZERO};
        Store store = life.store(sleeper, () -> Duration.ofSeconds(life.held > 0 ? 30 : 3));
        Store stopping = new Store(
                store.client(),
                store.tables(),
                new Threads() {
                    @Override
                    public void execute(Runnable task) {
                        deployment.time.start(task);
                    }

                    @Override
                    public void pause(Duration pause) {
                        await(sleeper.after(pause.plus(stopped[0])));
                    }
                },
                store.random(),
                store.clock());
        var _ = life.read(stopping);
        while (life.held == 0) {
            deployment.time.runFor(Duration.ofMillis(100));
        }
        stopped[0] = Duration.ofSeconds(20);
        deployment.time.runFor(Duration.ofSeconds(4));
        Instant until = hold().until();
        deployment.time.runFor(Duration.ofSeconds(26));
        assertThat(hold().until()).isEqualTo(until).isBefore(deployment.time.instant());
        life.end();
    }

    @Test
    @Tag("campaign")
    void a_reader_waits_for_an_old_hold_of_somebody_else_and_then_has_its_own() {
        life.live(2);
        CompletableFuture<TotalsReads.Reading> first =
                life.read(deployment.dynamo.client("first"), () -> Duration.ofSeconds(life.held > 0 ? 40 : 3));
        while (life.held == 0) {
            deployment.time.runFor(Duration.ofMillis(100));
        }
        deployment.time.runFor(Duration.ofSeconds(33));
        assertThat(first).isNotDone();
        Header.Hold old = hold();
        assertThat(Duration.between(old.begun(), deployment.time.instant())).isGreaterThan(Duration.ofSeconds(30));
        CompletableFuture<TotalsReads.Reading> second = read("second", Duration.ofSeconds(3));
        long trades = BusyTrades.trades(deployment.of(first));
        assertThat(trades).isPositive();
        assertThat(second).isNotDone();
        TotalsReads.Reading reading = deployment.of(second);
        assertThat(reading.epoch()).isGreaterThan(old.epoch());
        assertThat(BusyTrades.trades(reading)).isGreaterThan(trades);
        life.end();
    }

    /// Epochs begin again in a table that is recreated.
    @Test
    @Tag("campaign")
    void an_engine_that_was_there_before_a_restore_gives_long_answers_after_it() {
        life.live(2);
        Duration[] page = {Duration.ofMillis(1)};
        AwsEngine engine = AwsEngine.deployed(life.store(deployment.dynamo.client("service"), () -> page[0]));
        deployment.time.runFor(Duration.ofSeconds(40));
        engine.query(Query.all("desks"));
        var rows = deployment.dynamo.backup(deployment.tables.rows());
        var none = new Backup(deployment.tables.totals(), List.of());
        Stream.of(rows, none).forEach(backup -> deployment.dynamo.restore(backup, RESTORE));
        deployment.time.runFor(RESTORE);
        Restored.begin(life.function());
        life.engine.rebuild();
        life.definition = new Definitions(life.function()).load();
        deployment.time.runFor(Duration.ofSeconds(5));
        page[0] = Duration.ofSeconds(3);
        Instant start = deployment.time.instant();
        assertThat(engine.query(Query.all("desks")).lines()).isNotEmpty();
        assertThat(Duration.between(start, deployment.time.instant())).isLessThan(Duration.ofSeconds(25));
        life.end();
        life.engine.reduce();
        assertThat(life.engine.verify().isEqual()).isTrue();
    }
}
