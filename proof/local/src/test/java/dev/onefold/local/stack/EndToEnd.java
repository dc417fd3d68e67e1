package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Verification;
import dev.onefold.core.query.Query;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.gate.Usage;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.StreamSource;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// What is wanted of a deployment, whatever its input is.
final class EndToEnd {
    static final Faults FAULTS = new Faults(5, 3, 10, 3, 10, 20, Duration.ofMillis(50));

    /// Nothing here writes logs for the functions.
    private static final List<String> LOGS = List.of("logs:CreateLogStream", "logs:PutLogEvents");

    private EndToEnd() {}

    /// Totals, the audit, roles and the retry queue. The last may hold nothing that State could not take.
    static void assertRight(LocalDeployment deployment, SortedMap<List<String>, List<BigDecimal>> totals) {
        AwsEngine engine = AwsEngine.deployed(deployment.store());
        Map<List<String>, List<BigDecimal>> served = new LinkedHashMap<>();
        engine.query(Query.all("main")).lines().forEach(line -> served.put(line.group(), line.values()));
        assertThat(served).containsExactlyEntriesOf(totals);
        assertThat(verified(engine).differences()).isEmpty();
        assertThat(deployment.usage().refused()).isEmpty();
        assertThat(aside(deployment)).isEqualTo("0");
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

    /// The records of all dead letters.
    static List<String> letters(LocalDeployment deployment) {
        DeadLetters letters = AwsEngine.deployed(deployment.store()).deadLetters();
        return letters.list(0, 1_000).stream()
                .map(DeadLetter::id)
                .map(id -> new String(letters.record(id), StandardCharsets.UTF_8))
                .toList();
    }

    /// Permissions that nobody has used yet.
    static List<String> unused(LocalDeployment deployment) {
        return deployment.usage().unused(deployment.roles().values()).stream()
                .filter(unused -> !LOGS.contains(unused.action()))
                .map(Usage.Permission::toString)
                .toList();
    }

    private static final List<String> KINDS = List.of("THROTTLED", "BROKEN", "CONFLICT", "LOST", "DELAYED");

    /// Goes on until State was killed and each kind of failure has happened. What a request meets is chance.
    ///
    /// @param more brings more input
    static void failUntilAllHasHappened(LocalDeployment deployment, Runnable more) {
        for (int times = 0; times < 100 && !hasAllHappened(deployment); times++) {
            more.run();
            deployment.drained(Duration.ofMinutes(5)).join();
        }
        assertThat(deployment.function("State").counts().killed()).isPositive();
        assertThat(deployment.usage().faults().keySet()).containsAll(KINDS);
    }

    private static boolean hasAllHappened(LocalDeployment deployment) {
        return deployment.function("State").counts().killed() > 0
                && deployment.usage().faults().keySet().containsAll(KINDS);
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

    /// The template hides what has failed for six minutes, and nobody waits here for that long.
    static void shortenRetries(LocalDeployment deployment) {
        deployment
                .clients("Operator")
                .queues
                .setQueueAttributes(request -> request.queueUrl(deployment.value("Retries"))
                        .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "5")))
                .join();
    }

    /// Another mapping of the input, which gives up at once: all that it reads goes to the retry queue.
    static StreamMapping givingUp(LocalDeployment deployment, RealTime time, StreamSource source) {
        return givingUp(deployment, time, source, "State");
    }

    /// The same for another function that reads the input.
    static StreamMapping givingUp(LocalDeployment deployment, RealTime time, StreamSource source, String function) {
        Clients clients = deployment.clients(function + "Role");
        return StreamMapping.open(
                time,
                source,
                new Target(
                        _ -> CompletableFuture.failedFuture(new IllegalStateException("gives up")),
                        deployment.value(function + ".Arn"),
                        new Destination(clients.queues, deployment.value("Retries"))),
                MappingSettings.input()
                        .withBatch(500, Duration.ZERO)
                        .withFailure(false, true)
                        .withEnd(0, MappingSettings.FOREVER),
                MappingFaults.NONE);
    }

    static void report(LocalDeployment deployment, int messages, long seed) {
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
}
