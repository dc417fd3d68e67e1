package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Fifty people who each ask once a second, beside a thousand messages a second: each closing of an epoch moves
/// what the commits of Reduce are conditional on.
class ReadersHazardsTest {
    private static final int LANES = 8;
    private static final int WIDE = 40;
    private static final long CLOCK_SKEW_MS = 20;
    private static final int READERS = 50;
    private static final Duration LAG_MAX = Duration.ofSeconds(4);
    private static final Pipeline TRADES = TradeFixtures.VALUES;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, LANES, 64);
    private int sequence;
    private int answers;
    private boolean over;
    private Duration oldest = Duration.ZERO;

    @Test
    void hazard_58_fifty_readers_do_not_hold_up_a_thousand_messages_a_second() {
        live(Duration.ofSeconds(9));
    }

    @Test
    @Tag("campaign")
    void fifty_readers_do_not_hold_up_a_thousand_messages_a_second_for_a_minute() {
        live(Duration.ofSeconds(60));
    }

    /// 58: with so many lanes one of the headers is always in a transaction.
    @Test
    void hazard_58_readers_get_answers_while_forty_lanes_commit_without_a_pause() {
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        Deployment wide =
                new Deployment(time, new SimulatedDynamoDb(time, 1), new SplittableRandom(1), 1, CLOCK_SKEW_MS);
        AwsEngine all = wide.engine(TRADES, WIDE, 64);
        for (int batch = 0; batch < 50; batch++) {
            StateAndMap.process(wide.store(wide.dynamo.client("function")), trades(40));
        }
        wide.dynamo.inject(AwsFigures.latency(Duration.ofMillis(100)));
        for (int lane = 0; lane < WIDE; lane++) {
            int number = lane;
            var _ = wide.start(() -> Reduce.lane(wide.store(wide.dynamo.client("function")), number));
        }
        time.runFor(Duration.ofMillis(100));
        Duration longest = Duration.ZERO;
        for (int answer = 0; answer < 2; answer++) {
            Instant start = time.instant();
            all.query(Query.all("main"));
            Duration took = Duration.between(start, time.instant());
            longest = took.compareTo(longest) > 0 ? took : longest;
            time.runFor(Duration.ofMillis(300));
        }
        assertThat(longest).isLessThan(Duration.ofSeconds(1));
        assertThat(Lag.of(wide.store(wide.dynamo.client("function")), WIDE))
                .as("commits go on")
                .isPositive();
        all.reduce();
        assertThat(all.query(Query.all("main")).lines().getFirst().values().getLast())
                .isEqualByComparingTo(BigDecimal.valueOf(sequence));
    }

    private void live(Duration life) {
        deployment.dynamo.inject(AwsFigures.latency(Duration.ofMillis(100)));
        IntStream.range(0, LANES).forEach(lane -> TradeFixtures.keepReducing(deployment, lane, () -> over));
        put();
        Definition definition = new Definitions(deployment.function()).load();
        for (int reader = 0; reader < READERS; reader++) {
            Store store = deployment.function();
            deployment.time.schedule(Duration.ofMillis(1_000L * reader / READERS), () -> read(store, definition));
        }
        deployment.time.runFor(life);
        Duration lag = Lag.of(deployment.function(), LANES);
        over = true;
        assertThat(lag).isLessThan(LAG_MAX);
        assertThat(answers).isGreaterThan((int) (READERS * (life.toSeconds() - 2)));
        assertThat(oldest).as("the oldest answer").isLessThan(LAG_MAX.plusSeconds(3));
        deployment.time.runFor(Duration.ofSeconds(5));
        engine.reduce();
        assertThat(engine.query(Query.all("main")).lines().getFirst().values().getLast())
                .isEqualByComparingTo(BigDecimal.valueOf(sequence));
    }

    private List<Arrival> trades(int count) {
        return IntStream.range(0, count)
                .mapToObj(_ -> new Arrival(
                        "s/shard",
                        Integer.toString(++sequence),
                        0,
                        "{\"id\":\"t%d\",\"v\":1,\"desk\":\"desk%d\",\"value\":1}"
                                .formatted(sequence, sequence % 12)
                                .getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    private void put() {
        if (over) {
            return;
        }
        List<Arrival> batch = trades(100);
        var _ = deployment.start(() -> StateAndMap.process(deployment.function(), batch));
        deployment.time.schedule(Duration.ofMillis(100), this::put);
    }

    private void read(Store store, Definition definition) {
        if (over) {
            return;
        }
        Instant start = deployment.time.instant();
        var _ = deployment
                .start(() -> new TotalsReads(store, definition)
                        .read(List.of(TotalsReads.Part.of(definition.servedView(), 0, Tuple.of(List.of())))))
                .handle((reading, failure) -> {
                    if (failure == null) {
                        answers++;
                        oldest = Duration.between(reading.at(), start).compareTo(oldest) > 0
                                ? Duration.between(reading.at(), start)
                                : oldest;
                    }
                    Duration left = Duration.between(deployment.time.instant(), start.plusSeconds(1));
                    deployment.time.schedule(
                            left.isNegative() ? Duration.ofMillis(1) : left, () -> read(store, definition));
                    return null;
                });
    }
}
