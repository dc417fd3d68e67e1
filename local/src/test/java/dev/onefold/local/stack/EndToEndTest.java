package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.RowReads;
import dev.onefold.aws.template.Input;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Verification;
import dev.onefold.core.query.Query;
import dev.onefold.local.function.Misfortune;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.gate.Usage;
import dev.onefold.local.mapping.Destination;
import dev.onefold.local.mapping.MappingSettings;
import dev.onefold.local.mapping.Nastiness;
import dev.onefold.local.mapping.StreamMapping;
import dev.onefold.local.mapping.Target;
import dev.onefold.local.mapping.source.KinesisSource;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// All of it: real servers, real sandboxes, the roles enforced, and everything going wrong at once.
class EndToEndTest {
    private static final int SANDBOXES = 2;
    private static final Faults FAULTS = new Faults(5, 3, 10, 3, 10, 20, Duration.ofMillis(50));

    /// Nothing here writes logs for the functions.
    private static final List<String> LOGS = List.of("logs:CreateLogStream", "logs:PutLogEvents");

    private static LocalDeployment deployment(Chaos chaos) throws IOException {
        return LocalDeployment.open(
                "trades",
                Template.of(Trades.PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of("BatchSize", "200", "ParallelizationFactor", "2"),
                Parts.machine(SANDBOXES),
                chaos);
    }

    private static void assertRight(LocalDeployment deployment, Trades trades) {
        AwsEngine engine = AwsEngine.deployed(deployment.store(), Connection.JOIN);
        Map<List<String>, List<BigDecimal>> served = new LinkedHashMap<>();
        engine.query(Query.all("main")).lines().forEach(line -> served.put(line.group(), line.values()));
        assertThat(served).containsExactlyEntriesOf(trades.totals());
        assertThat(verified(engine).differences()).isEmpty();
        assertThat(different(engine.deadLetters())).containsExactlyInAnyOrderElementsOf(trades.broken);
        assertThat(deployment.usage().refused()).isEmpty();
    }

    /// Upkeep may change the definition at the same moment, and says so.
    private static Verification verified(AwsEngine engine) {
        for (int attempt = 1; ; attempt++) {
            try {
                return engine.verify();
            } catch (IllegalStateException e) {
                if (attempt == 5 || !String.valueOf(e.getMessage()).contains("try again")) {
                    throw e;
                }
            }
        }
    }

    /// The tables as a role sees them.
    private static Store store(LocalDeployment deployment, String role) {
        return new Store(
                deployment.clients(role).tables,
                Store.Tables.of("trades"),
                LocalDeployment::after,
                new SecureRandom(),
                InstantSource.system(),
                Store.DELTAS_PER_COMMIT_MAX);
    }

    /// What Upkeep does each day, and the two things that it does only where somebody is in its way; and what State
    /// does
    /// only where it comes upon gates before Upkeep.
    private static void useRarePermissions(LocalDeployment deployment) {
        Store upkeep = store(deployment, "UpkeepRole");
        boolean audited = false;
        for (int steps = 0; steps < 20 && !audited; steps++) {
            audited =
                    Upkeep.step(upkeep, Trades.PIPELINE, 1, () -> true, _ -> {}).join()
                            instanceof Upkeep.Outcome.Audited;
        }
        assertThat(audited).isTrue();
        Upkeep.step(upkeep, Trades.PIPELINE, 0, () -> true, _ -> {}).join(); // Cleans the audit's view away.
        new RowReads(upkeep)
                .read(List.of("nobody".getBytes(StandardCharsets.UTF_8)))
                .join();
        Definitions definitions = new Definitions(store(deployment, "StateRole"));
        Definition definition = definitions.load().join();
        Headers.make(upkeep, definition.lanes()).join();
        definitions.moveGates(definition).join();
    }

    /// A producer that got no answer has put a record twice, in two places.
    private static List<String> different(DeadLetters letters) {
        return letters.list(0, 1_000).stream()
                .map(DeadLetter::id)
                .map(id -> new String(letters.record(id), StandardCharsets.UTF_8))
                .distinct()
                .toList();
    }

    /// Another mapping of the same stream, which gives up at once.
    private static StreamMapping givingUp(LocalDeployment deployment, RealTime time) {
        Clients clients = deployment.clients("StateRole");
        return StreamMapping.open(
                time,
                new KinesisSource(clients.streams, deployment.value("InputStream.Arn")),
                new Target(
                        _ -> CompletableFuture.failedFuture(new IllegalStateException("gives up")),
                        deployment.value("State.Arn"),
                        new Destination(clients.queues, deployment.value("Retries"))),
                MappingSettings.input()
                        .withBatch(500, Duration.ZERO)
                        .withFailure(false, true)
                        .withEnd(0, MappingSettings.FOREVER),
                Nastiness.NONE);
    }

    /// The template hides what has failed for six minutes, and nobody waits here for that long.
    private static void shortenRetries(LocalDeployment deployment) {
        deployment
                .clients("Operator")
                .queues
                .setQueueAttributes(request -> request.queueUrl(deployment.value("Retries"))
                        .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "5")))
                .join();
    }

    /// As if whoever changed the definition had stopped before the gates were moved.
    private static void changeHalfway(Store store) {
        Definition before = new Definitions(store).load().join();
        Definition next = before.withView(before.servedView().pipeline(), 1, "somebody");
        store.retried(() -> store.client()
                        .putItem(request ->
                                request.tableName(store.tables().rows()).item(next.item())))
                .join();
    }

    private static void report(LocalDeployment deployment, int messages, long seed) {
        System.out.println(
                "Seed " + seed + "; State " + deployment.function("State").counts() + "; Reduce "
                        + deployment.function("Reduce").counts() + "; faults "
                        + deployment.usage().faults());
        Map<String, Long> perMillion = new LinkedHashMap<>();
        deployment
                .usage()
                .requests()
                .forEach((request, count) -> perMillion.put(request, count * 1_000_000 / messages));
        // One request at a time: an UpdateItem for each message and an item for the hash of each batch, before any
        // group.
        System.out.println("Requests per million messages: " + perMillion
                + "; the reference design makes a million conditional updates for State alone");
    }

    @Test
    void whatever_fails_on_the_way_each_message_is_in_the_totals_once_and_each_permission_is_used() throws IOException {
        long seed = 42;
        Trades trades = new Trades(600, seed);
        Chaos chaos = new Chaos(seed, FAULTS, new Misfortune(20, 20, 10, 15), new Misfortune(30, 30, 10, 15), 0.03);
        int half = trades.records.size() / 2;
        try (LocalDeployment deployment = deployment(chaos);
                RealTime time = new RealTime()) {
            deployment.put(Trades.PIPELINE, trades.records.subList(0, half).iterator(), _ -> {});
            deployment.drained(Duration.ofMinutes(5)).join();
            changeHalfway(deployment.store());
            shortenRetries(deployment);
            try (StreamMapping givingUp = givingUp(deployment, time)) {
                deployment.put(
                        Trades.PIPELINE,
                        trades.records.subList(half, trades.records.size()).iterator(),
                        _ -> {});
                deployment.drained(Duration.ofMinutes(5)).join();
                assertThat(givingUp.lastProcessingResult()).contains("RetryAttemptsExhausted");
            }
            assertRight(deployment, trades);
            assertThat(aside(deployment)).isEqualTo("0");
            useRarePermissions(deployment);
            assertThat(deployment.usage().unused(deployment.roles().values()).stream()
                            .filter(unused -> !LOGS.contains(unused.action()))
                            .map(Usage.Permission::toString))
                    .isEmpty();
            assertThat(deployment.function("State").counts().killed()).isPositive();
            assertThat(deployment.usage().faults().keySet())
                    .contains("THROTTLED", "BROKEN", "CONFLICT", "LOST", "DELAYED");
            report(deployment, trades.records.size(), seed);
        }
    }

    private static String aside(LocalDeployment deployment) {
        String url = deployment.value("RetriesAside");
        return deployment
                .clients("Operator")
                .queues
                .getQueueAttributes(request ->
                        request.queueUrl(url).attributeNames(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES))
                .join()
                .attributes()
                .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES);
    }

    @Test
    @Tag("campaign")
    void fifty_thousand_messages_come_out_right_with_the_failures_of_the_reference_design() throws IOException {
        long seed = 7;
        Trades trades = new Trades(50_000, seed);
        Chaos chaos = new Chaos(seed, FAULTS, new Misfortune(5, 3, 2, 40), new Misfortune(10, 5, 5, 40), 0.03);
        try (LocalDeployment deployment = deployment(chaos)) {
            deployment.put(Trades.PIPELINE, trades.records.iterator(), _ -> {});
            deployment.drained(Duration.ofMinutes(20)).join();
            assertRight(deployment, trades);
            report(deployment, trades.records.size(), seed);
        }
    }
}
