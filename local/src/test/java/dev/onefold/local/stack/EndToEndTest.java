package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.template.Input;
import dev.onefold.aws.template.Template;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.query.Query;
import dev.onefold.local.function.Misfortune;
import dev.onefold.local.gate.Faults;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// All of it: real servers, real sandboxes, and everything going wrong at once.
class EndToEndTest {
    private static final int SANDBOXES = 2;

    private static Chaos chaos(long seed) {
        return new Chaos(
                seed,
                new Faults(5, 3, 10, 3, 10, 20, Duration.ofMillis(50)),
                new Misfortune(20, 20, 20, 10),
                new Misfortune(30, 30, 20, 10),
                0.03);
    }

    private void totals_are_right(int count, long seed, Duration most) throws IOException {
        Trades trades = new Trades(count, seed);
        try (LocalDeployment deployment = LocalDeployment.open(
                "trades",
                Template.of(Trades.PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of("BatchSize", "100", "ParallelizationFactor", "2"),
                Parts.machine(SANDBOXES),
                chaos(seed))) {
            deployment.put(Trades.PIPELINE, trades.records.iterator(), _ -> {});
            deployment.drained(most).join();
            AwsEngine engine = AwsEngine.deployed(deployment.store(), Connection.JOIN);
            SortedMap<List<String>, List<BigDecimal>> served = new TreeMap<>(trades.totals());
            served.clear();
            engine.query(Query.all("main")).lines().forEach(line -> served.put(line.group(), line.values()));
            assertThat(served).isEqualTo(trades.totals());
            assertThat(engine.verify().differences()).isEmpty();
            assertThat(bytes(engine.deadLetters())).containsExactlyInAnyOrderElementsOf(trades.broken);
            assertThat(deployment.usage().refused()).isEmpty();
            System.out.println(deployment.usage().requests());
            System.out.println(deployment.usage().faults());
            System.out.println(deployment.function("State").counts());
            System.out.println(deployment.function("Reduce").counts());
            System.out.println(deployment.usage().unused(deployment.roles().values()));
        }
    }

    /// Each once: a producer that got no answer has put it twice.
    private static List<String> bytes(DeadLetters letters) {
        return letters.list(0, 1_000).stream()
                .map(DeadLetter::id)
                .map(id -> new String(letters.record(id), StandardCharsets.UTF_8))
                .distinct()
                .collect(Collectors.toList());
    }

    @Test
    void whatever_fails_on_the_way_each_message_is_in_the_totals_once() throws IOException {
        totals_are_right(3_000, 42, Duration.ofMinutes(4));
    }

    @Test
    @Tag("campaign")
    void fifty_thousand_messages_come_out_right_whatever_fails() throws IOException {
        totals_are_right(50_000, 7, Duration.ofMinutes(10));
    }
}
