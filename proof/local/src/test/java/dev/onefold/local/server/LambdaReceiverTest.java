package dev.onefold.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.content.LambdaReceiver;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.gate.Gate;
import dev.onefold.local.gate.Role;
import dev.onefold.local.gate.Service;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.lambda.LambdaAsyncClient;

/// Functions as receivers, on a server that stands in for Lambda's; in front of it the gate, which knows roles and lets
/// requests fail.
class LambdaReceiverTest {
    private static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String ARN = "arn:aws:lambda:eu-central-1:000000000000:function:";

    private FunctionServer functions;
    private final List<String> payloads = new ArrayList<>();

    @BeforeEach
    void open() throws IOException {
        functions = FunctionServer.open();
    }

    @AfterEach
    void close() {
        functions.close();
    }

    private Gate gate(String allowed, Faults faults) throws IOException {
        Role role = new Role(
                "Deliver",
                "DELIVER",
                List.of(new Role.Statement("Receiver", List.of("lambda:InvokeFunction"), List.of(ARN + allowed))));
        return Gate.open(Account.LOCAL, Map.of(Service.LAMBDA, functions.uri()), List.of(role), faults, 1);
    }

    private static LambdaReceiver receiver(URI endpoint, String function, Duration timeout) {
        Batching batching = new Batching(
                10,
                Batching.BYTES_DEFAULT,
                Duration.ofMinutes(1),
                new Destination(Kind.LAMBDA, List.of(function), new TreeMap<>()),
                Batching.Receiver.IDEMPOTENT,
                false,
                Batching.Order.ANY,
                4,
                Batching.RETRY_DEFAULT,
                new Batching.Forget.Never(),
                null);
        return LambdaReceiver.open(
                batching,
                timeout,
                LambdaAsyncClient.builder()
                        .endpointOverride(endpoint)
                        .region(Region.EU_CENTRAL_1)
                        .credentialsProvider(
                                StaticCredentialsProvider.create(AwsBasicCredentials.create("DELIVER", "secret"))));
    }

    private static Outcome deliver(LambdaReceiver receiver) throws InterruptedException {
        BatchNumber number = BatchNumber.of(42);
        Manifest manifest = new Manifest(
                Manifest.id("orders", number), number, "", 3, 27, "ab".repeat(32), "", "", SEALED, SEALED, SEALED);
        return receiver.deliver(manifest, 2, "letters", "contents/000042-abab");
    }

    private Outcome answered(String answer) throws InterruptedException {
        functions.put("load", payload -> {
            payloads.add(payload);
            return answer;
        });
        return deliver(receiver(functions.uri(), "load", TIMEOUT));
    }

    @Test
    void a_function_gets_the_batch_and_the_place_of_its_content() throws InterruptedException {
        assertThat(answered("null")).isEqualTo(new Outcome.Done());
        assertThat(payloads)
                .containsExactly("{\"batch\":\"orders-000042\",\"number\":\"000042\",\"records\":3,\"bytes\":27,"
                        + "\"sha256\":\"" + "ab".repeat(32) + "\",\"attempt\":2,\"bucket\":\"letters\","
                        + "\"key\":\"contents/000042-abab\"}");
    }

    @Test
    void any_answer_is_done_and_one_that_names_records_is_partial() throws InterruptedException {
        for (String answer : List.of("", "\"loaded\"", "{\"rows\":3}", "{\"batchItemFailures\":[]}")) {
            assertThat(answered(answer)).as(answer).isEqualTo(new Outcome.Done());
        }
        assertThat(answered("{\"batchItemFailures\":[{\"itemIdentifier\":\"2\",\"reason\":\"too old\"}]}"))
                .isEqualTo(new Outcome.Partial(List.of(new Outcome.Failed(2, "too old"))));
        assertThat(answered("{\"batchItemFailures\":[{\"itemIdentifier\":\"x\"}]}"))
                .isInstanceOf(Outcome.Unknown.class);
    }

    @Test
    void a_function_that_fails_leaves_it_unknown() throws InterruptedException {
        functions.put("load", _ -> {
            throw new IllegalStateException("Task timed out after 3.00 seconds");
        });
        assertThat(deliver(receiver(functions.uri(), "load", TIMEOUT)))
                .isInstanceOfSatisfying(
                        Outcome.Unknown.class,
                        outcome -> assertThat(outcome.reason())
                                .contains("The function load failed", "Task timed out after 3.00 seconds"));
    }

    @Test
    void a_function_that_is_throttled_or_may_not_be_invoked_or_is_not_there_is_not_now()
            throws IOException, InterruptedException {
        functions.put("load", _ -> "null");
        Faults throttled = new Faults(1_000, 0, 0, 0, 0, 0, Duration.ZERO);
        try (Gate busy = gate("load", throttled);
                Gate closed = gate("other", Faults.NONE);
                Gate open = gate("none", Faults.NONE)) {
            assertThat(deliver(receiver(busy.uri(), "load", TIMEOUT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason()).contains("is throttled"));
            assertThat(deliver(receiver(closed.uri(), "load", TIMEOUT))).isInstanceOf(Outcome.NotNow.class);
            assertThat(closed.usage().refused())
                    .containsExactly("Deliver may not lambda:InvokeFunction on " + ARN + "load");
            assertThat(deliver(receiver(open.uri(), "none", TIMEOUT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason()).contains("404", "Check its name"));
        }
    }

    @Test
    void an_answer_that_is_lost_or_late_leaves_it_unknown_and_the_function_is_invoked_once()
            throws IOException, InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        functions.put("load", payload -> {
            payloads.add(payload);
            return "null";
        });
        functions.put("slow", _ -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "null";
        });
        Faults lost = new Faults(0, 0, 0, 1_000, 0, 0, Duration.ZERO);
        try (Gate gate = gate("load", lost)) {
            assertThat(deliver(receiver(gate.uri(), "load", TIMEOUT))).isInstanceOf(Outcome.Unknown.class);
            assertThat(payloads).hasSize(1);
        }
        assertThat(deliver(receiver(functions.uri(), "slow", Duration.ofMillis(300))))
                .isInstanceOf(Outcome.Unknown.class);
        end.countDown();
    }

    @Test
    void an_error_that_may_come_from_the_middle_of_a_function_leaves_it_unknown()
            throws IOException, InterruptedException {
        for (int status : List.of(400, 403, 404, 409, 413, 415, 408, 410, 422)) {
            try (Loopback lambda = Loopback.open(exchange -> {
                try (exchange) {
                    exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(status, -1);
                }
            })) {
                Outcome outcome = deliver(receiver(lambda.uri(), "load", TIMEOUT));
                boolean mayHaveRun = List.of(408, 410, 422).contains(status);
                assertThat(outcome)
                        .as(Integer.toString(status))
                        .isInstanceOf(mayHaveRun ? Outcome.Unknown.class : Outcome.NotNow.class);
            }
        }
    }

    @Test
    void an_alias_and_an_arn_are_invoked_as_they_are_named() throws InterruptedException {
        for (String name : List.of("load:live", ARN + "load", ARN + "load:7")) {
            functions.put(name, _ -> "null");
            assertThat(deliver(receiver(functions.uri(), name, TIMEOUT)))
                    .as(name)
                    .isEqualTo(new Outcome.Done());
        }
        assertThatThrownBy(() -> receiver(functions.uri(), "load orders", TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no name and no ARN");
    }
}
