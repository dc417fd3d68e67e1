package dev.onefold.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.gate.Gate;
import dev.onefold.local.gate.Role;
import dev.onefold.local.gate.Service;
import dev.onefold.local.template.Account;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Verification;
import dev.onefold.s3.S3Receiver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;

/// The receiver of batches that writes objects, on a server that stands in for S3; in front of it the gate, which knows
/// roles and lets requests fail.
class S3ReceiverTest {
    private static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");
    private static final String CONTENT = "{\"id\":1}\n{\"id\":2}\n";
    private static final String OTHER = "{\"id\":1}\n{\"id\":3}\n";
    private static final String OBJECT = "/bucket/drop/quakes-000001.ndjson";
    private static final String MANIFEST = "/bucket/drop/quakes-000001.json";

    /// What the documentation and the template allow, and no more.
    private static final Role WRITER = role("s3:PutObject", "s3:GetObject");

    private static Role role(String... actions) {
        return roleFor("quakes-*", actions);
    }

    private static Role roleFor(String names, String... actions) {
        return new Role(
                "Writer",
                "WRITER",
                List.of(new Role.Statement("Drop", List.of(actions), List.of("arn:aws:s3:::bucket/drop/" + names))));
    }

    private static Gate gate(ObjectServer objects, Role role, Faults faults, long seed) throws IOException {
        return Gate.open(Account.LOCAL, Map.of(Service.S3, objects.uri()), List.of(role), faults, seed);
    }

    private static Batching batching(Map<String, String> options) {
        return new Batching(
                10,
                Batching.BYTES_DEFAULT,
                Duration.ofMinutes(1),
                new Destination(Kind.S3, List.of("s3://bucket/drop/quakes-{number}.ndjson"), new TreeMap<>(options)),
                Batching.Receiver.IDEMPOTENT,
                false,
                Batching.Order.ANY,
                4,
                Batching.RETRY_DEFAULT,
                new Batching.Forget.Never(),
                null);
    }

    private static Receiver open(URI endpoint) {
        return open(endpoint, StaticCredentialsProvider.create(AwsBasicCredentials.create("WRITER", "secret")));
    }

    private static Receiver open(URI endpoint, AwsCredentialsProvider credentials) {
        Map<String, String> options =
                Map.of("endpoint", endpoint.toString(), "manifest", "true", "region", "eu-central-1");
        return S3Receiver.open(batching(options), credentials);
    }

    private static Manifest manifest(int number, String content, String previous) {
        BatchNumber batch = BatchNumber.of(number);
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        return new Manifest(
                Manifest.id("quakes", batch),
                batch,
                "",
                content.lines().count(),
                bytes.length,
                Sha256.hex(bytes),
                previous,
                "",
                SEALED,
                SEALED,
                SEALED);
    }

    private static Handover handover(Manifest manifest, String content) {
        return new Handover(manifest, 1, () -> new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
    }

    private static Handover handover(String content) {
        return handover(manifest(1, content, ""), content);
    }

    private static void put(ObjectServer objects, String path, String content)
            throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(objects.uri().resolve(path))
                    .PUT(HttpRequest.BodyPublishers.ofString(content))
                    .build();
            assertThat(client.send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    private static String text(ObjectServer objects, String path) {
        return new String(objects.objects().getOrDefault(path, new byte[0]), StandardCharsets.UTF_8);
    }

    @Test
    void a_prefix_of_batches_is_proven_like_a_folder(@TempDir Path folder) throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate gate = gate(objects, WRITER, Faults.NONE, 1);
                Receiver receiver = open(gate.uri())) {
            String previous = "";
            for (int number = 1; number <= 3; number++) {
                String content = "{\"id\":" + number + "}\n";
                Manifest manifest = manifest(number, content, previous);
                assertThat(receiver.deliver(handover(manifest, content))).isEqualTo(new Outcome.Done());
                previous = manifest.sha256();
            }
            for (Map.Entry<String, byte[]> object : objects.objects().entrySet()) {
                String path = object.getKey();
                Files.write(folder.resolve(path.substring(path.lastIndexOf('/') + 1)), object.getValue());
            }
            Verification verification = Verification.of(folder, 1);
            assertThat(verification.findings()).isEmpty();
            assertThat(verification.pipelines()).containsExactly(new Verification.Numbers("quakes", 1, 3, 3, 3, 3 * 9));
            assertThat(gate.usage().refused()).isEmpty();
        }
    }

    @Test
    void the_same_content_is_done_and_is_not_written_again() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate gate = gate(objects, WRITER, Faults.NONE, 1);
                Receiver receiver = open(gate.uri())) {
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            assertThat(text(objects, OBJECT)).isEqualTo(CONTENT);
            assertThat(gate.usage().unused(List.of(WRITER))).isEmpty();
        }
    }

    @Test
    void an_object_that_came_without_a_hash_is_read_and_compared() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Receiver receiver = open(objects.uri())) {
            put(objects, OBJECT, CONTENT);
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            assertThat(text(objects, MANIFEST)).contains("\"file\":\"quakes-000001.ndjson\"");
        }
    }

    @Test
    void another_content_is_a_conflict_and_stays_as_it_is() throws IOException, InterruptedException {
        for (String there : List.of(OTHER, "", CONTENT + CONTENT)) {
            try (ObjectServer objects = ObjectServer.open("bucket");
                    Receiver receiver = open(objects.uri())) {
                put(objects, OBJECT, there);
                assertThat(receiver.deliver(handover(CONTENT)))
                        .isInstanceOfSatisfying(
                                Outcome.Conflict.class,
                                conflict -> assertThat(conflict.reason())
                                        .startsWith("s3://bucket/drop/quakes-000001.ndjson is there already"));
                assertThat(text(objects, OBJECT)).isEqualTo(there);
                assertThat(objects.objects()).doesNotContainKey(MANIFEST);
            }
        }
    }

    @Test
    void another_manifest_is_a_conflict() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Receiver receiver = open(objects.uri())) {
            put(objects, MANIFEST, "{}");
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.Conflict.class,
                            conflict -> assertThat(conflict.reason())
                                    .contains("quakes-000001.json", "the manifest of batch quakes-000001"));
        }
    }

    @Test
    void an_answer_that_is_lost_after_the_effect_is_unknown_and_found_by_the_next_attempt()
            throws IOException, InterruptedException {
        Faults lost = new Faults(0, 0, 0, 1_000, 0, 0, Duration.ZERO);
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate gate = gate(objects, WRITER, lost, 1);
                Receiver deaf = open(gate.uri());
                Receiver receiver = open(objects.uri())) {
            assertThat(deaf.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.Unknown.class,
                            unknown -> assertThat(unknown.reason())
                                    .startsWith(
                                            "Nobody knows whether s3://bucket/drop/quakes-000001.ndjson was written")
                                    .doesNotContain("TCP dump", "SDK"));
            assertThat(text(objects, OBJECT)).isEqualTo(CONTENT);
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            assertThat(receiver.deliver(handover(OTHER))).isInstanceOf(Outcome.Conflict.class);
        }
    }

    @Test
    void a_request_that_was_refused_before_its_effect_is_not_now() throws IOException, InterruptedException {
        Faults throttled = new Faults(1_000, 0, 0, 0, 0, 0, Duration.ZERO);
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate busy = gate(objects, WRITER, throttled, 1);
                Gate closed = gate(objects, role("s3:GetObject"), Faults.NONE, 1)) {
            for (Gate gate : List.of(busy, closed)) {
                try (Receiver receiver = open(gate.uri())) {
                    assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.NotNow.class);
                }
            }
            assertThat(objects.objects()).isEmpty();
        }
    }

    @Test
    void a_request_that_is_refused_after_the_content_has_its_name_is_unknown()
            throws IOException, InterruptedException {
        Role noManifest = roleFor("quakes-000001.ndjson", "s3:PutObject", "s3:GetObject");
        Role noReading = role("s3:PutObject");
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate first = gate(objects, noManifest, Faults.NONE, 1);
                Gate second = gate(objects, noReading, Faults.NONE, 1)) {
            for (Gate gate : List.of(first, second)) {
                try (Receiver receiver = open(gate.uri())) {
                    assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.Unknown.class);
                }
                assertThat(objects.objects()).containsOnlyKeys(OBJECT);
            }
            try (Receiver receiver = open(objects.uri())) {
                assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            }
        }
    }

    @Test
    void a_refusal_says_its_code_and_what_to_do() throws IOException, InterruptedException {
        assertThat(refusal(400, "ExpiredToken", "The provided token has expired."))
                .isEqualTo("s3://bucket/drop/quakes-000001.ndjson was not written. The store answered 400 ExpiredToken:"
                        + " The provided token has expired. The credentials are not valid any more: renew them");
        assertThat(refusal(403, "SignatureDoesNotMatch", "It does not match"))
                .endsWith("Check the access key and its secret");
        assertThat(refusal(403, "AccessDenied", "Access Denied")).contains("Allow s3:PutObject");
        assertThat(refusal(301, "PermanentRedirect", "Elsewhere")).contains("'region' under 'deliver'");
        assertThat(refusal(404, "NoSuchBucket", "There is none")).contains("create it");
        assertThat(refusal(400, "EntityTooLarge", "More than 5 GB")).contains("EntityTooLarge", "'bytes'");
    }

    private static String refusal(int status, String code, String message) throws IOException, InterruptedException {
        byte[] body = ("<Error><Code>" + code + "</Code><Message>" + message + "</Message></Error>")
                .getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
            exchange.getResponseHeaders().set("Content-Type", "application/xml");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (Receiver receiver = open(uri)) {
            return switch (receiver.deliver(handover(CONTENT))) {
                case Outcome.NotNow(String reason, var _) -> reason;
                case Outcome.Refused(String reason) -> reason;
                default -> "";
            };
        } finally {
            server.stop(0);
        }
    }

    @Test
    void an_error_of_the_store_is_unknown() throws IOException, InterruptedException {
        Faults broken = new Faults(0, 1_000, 0, 0, 0, 0, Duration.ZERO);
        try (ObjectServer objects = ObjectServer.open("bucket");
                Gate gate = gate(objects, WRITER, broken, 1);
                Receiver receiver = open(gate.uri())) {
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.Unknown.class);
        }
    }

    @Test
    void a_store_that_cannot_be_reached_and_credentials_that_are_not_there_are_not_now()
            throws IOException, InterruptedException {
        URI gone;
        try (ObjectServer objects = ObjectServer.open("bucket")) {
            gone = objects.uri();
        }
        try (Receiver receiver = open(gone)) {
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason()).contains("cannot be reached"));
        }
        AwsCredentialsProvider none = () -> {
            throw SdkClientException.create("Unable to load credentials");
        };
        try (Receiver receiver = open(gone, none)) {
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason())
                                    .startsWith("There are no credentials for s3://bucket/drop/quakes-000001.ndjson"));
        }
    }

    @Test
    void a_damaged_content_makes_no_object() throws IOException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Receiver receiver = open(objects.uri())) {
            for (String damaged : List.of(OTHER, "{\"id\":1}\n")) {
                assertThatThrownBy(() -> receiver.deliver(handover(manifest(1, CONTENT, ""), damaged)))
                        .isInstanceOf(EngineException.class)
                        .hasMessageContaining("It is not delivered");
            }
            assertThat(objects.objects()).isEmpty();
        }
    }

    @Test
    void of_two_engines_with_one_prefix_one_delivers_each_number_and_the_other_one_stops()
            throws IOException, InterruptedException, ExecutionException {
        try (ObjectServer objects = ObjectServer.open("bucket");
                Receiver one = open(objects.uri());
                Receiver other = open(objects.uri());
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int number = 1; number <= 20; number++) {
                String ours = "{\"ours\":" + number + "}\n";
                String theirs = "{\"them\":" + number + "}\n";
                Handover first = handover(manifest(number, ours, ""), ours);
                Handover second = handover(manifest(number, theirs, ""), theirs);
                List<Callable<Outcome>> both = List.of(() -> one.deliver(first), () -> other.deliver(second));
                List<Outcome> outcomes = new ArrayList<>();
                for (Future<Outcome> outcome : threads.invokeAll(both)) {
                    outcomes.add(outcome.get());
                }
                int winner = outcomes.indexOf(new Outcome.Done());
                assertThat(outcomes.get(1 - winner)).isInstanceOf(Outcome.Conflict.class);
                assertThat(text(objects, "/bucket/drop/quakes-%06d.ndjson".formatted(number)))
                        .isEqualTo(winner == 0 ? ours : theirs);
            }
        }
    }

    @Test
    void whatever_fails_each_batch_is_there_once_and_whole_in_the_end() throws IOException, InterruptedException {
        Faults faults = new Faults(100, 100, 0, 200, 50, 0, Duration.ofMillis(5));
        for (long seed = 1; seed <= 3; seed++) {
            Random random = new Random(seed);
            try (ObjectServer objects = ObjectServer.open("bucket");
                    Gate gate = gate(objects, WRITER, faults, seed);
                    Receiver receiver = open(gate.uri())) {
                for (int number = 1; number <= 5; number++) {
                    String content = "x".repeat(random.nextInt(200_000)) + "\n";
                    Handover handover = handover(manifest(number, content, ""), content);
                    Outcome outcome = receiver.deliver(handover);
                    while (!(outcome instanceof Outcome.Done)) {
                        assertThat(outcome)
                                .as("seed " + seed)
                                .isInstanceOfAny(Outcome.NotNow.class, Outcome.Unknown.class);
                        outcome = receiver.deliver(handover);
                    }
                    assertThat(text(objects, "/bucket/drop/quakes-%06d.ndjson".formatted(number)))
                            .isEqualTo(content);
                }
                assertThat(objects.objects()).hasSize(10);
            }
        }
    }

    @Test
    void an_endpoint_that_is_no_address_is_refused() {
        assertThatThrownBy(() -> S3Receiver.open(
                        batching(Map.of("endpoint", "minio:9000")), AnonymousCredentialsProvider.create()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'endpoint' is not an address: minio:9000");
    }
}
