package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.item.Header;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.store.Store;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.SimulatedClient;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// One answer takes longer to read than the next closings of epochs, beside people who ask all the time.
class LongReadsTest {
    private static final int READERS = 50;
    private static final Duration LAG_MAX = Duration.ofSeconds(4);

    private final BusyTrades life = new BusyTrades();
    private final Deployment deployment = life.deployment;

    private static Duration pageTakes() {
        return Duration.ofSeconds(3);
    }

    @Test
    void hazard_58_an_answer_whose_pages_take_three_seconds_is_whole_while_fifty_readers_ask_each_second() {
        life.live(READERS);
        SimulatedClient client = deployment.dynamo.client("long");
        Instant start = deployment.time.instant();
        TotalsReads.Reading reading = deployment.of(life.read(client, LongReadsTest::pageTakes));
        assertThat(BusyTrades.trades(reading)).isPositive();
        assertThat(Duration.between(start, deployment.time.instant())).isLessThan(Duration.ofSeconds(30));
        assertThat(Duration.between(reading.at(), deployment.time.instant())).isLessThan(Duration.ofSeconds(20));
        end();
    }

    @Test
    @Tag("campaign")
    void a_long_reader_that_has_died_holds_up_neither_reduce_nor_others_and_its_copies_go() {
        life.live(10);
        SimulatedClient dying = deployment.dynamo.client("dying");
        var _ = life.read(dying, LongReadsTest::pageTakes);
        Instant patience = deployment.time.instant().plusSeconds(30);
        while (life.held == 0 && deployment.time.instant().isBefore(patience)) {
            deployment.time.runFor(Duration.ofMillis(100));
        }
        assertThat(life.held).as("items with a copy for the reader").isPositive();
        dying.kill();
        int before = life.answers;
        assertThat(BusyTrades.trades(
                        deployment.of(life.read(deployment.dynamo.client("long"), LongReadsTest::pageTakes))))
                .isPositive();
        assertThat(life.answers - before).isGreaterThan(10);
        deployment.time.runFor(Duration.ofSeconds(13)); // Nobody renews the hold.
        life.held = 0;
        deployment.time.runFor(Duration.ofSeconds(3));
        assertThat(life.held).as("items that still get copies, or keep them").isZero();
        end();
    }

    @Test
    @Tag("campaign")
    void an_answer_that_takes_minutes_is_given_up_with_what_to_do() {
        life.live(5);
        SimulatedClient client = deployment.dynamo.client("long");
        assertThatThrownBy(() -> deployment.of(life.read(client, () -> Duration.ofSeconds(life.held > 0 ? 130 : 3))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("This answer took longer to read than 120 s")
                .hasMessageContaining("Ask for less");
        end();
    }

    /// The mark that asks for a pause stays when its reader dies. Reduce waits a third of a second at most, once.
    @Test
    void a_reader_that_dies_after_it_has_asked_for_a_pause_does_not_stop_reduce() {
        life.live(5);
        SimulatedClient dying = deployment.dynamo.client("dying");
        Store store = deployment.store(dying);
        List<Header> headers = life.headers();
        // What a reader sends before it dies: it has asked, and will not close.
        headers.forEach(header -> deployment.of(
                dying.updateItem(request -> request.tableName(store.tables().totals())
                        .key(Header.keyOf(header.lane()))
                        .updateExpression("SET " + Header.ASKED + " = :one")
                        .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))))));
        dying.kill();
        deployment.time.runFor(Duration.ofSeconds(2));
        assertThat(life.headers()).allSatisfy(header -> {
            assertThat(header.isAsked()).isFalse();
            assertThat(header.last()).isGreaterThan(headers.get(header.lane()).last());
        });
        end();
    }

    /// Totals are right, and late by no more than they ever are.
    private void end() {
        assertThat(Lag.of(life.function(), BusyTrades.LANES)).isLessThan(LAG_MAX);
        life.end();
        life.engine.reduce();
        assertThat(life.engine
                        .query(Query.all("desks"))
                        .lines()
                        .getFirst()
                        .values()
                        .getLast())
                .isEqualByComparingTo(BigDecimal.valueOf(life.sequence));
        assertThat(life.engine.verify().differences()).isEmpty();
    }
}
