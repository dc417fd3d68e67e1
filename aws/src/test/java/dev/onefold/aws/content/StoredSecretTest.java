package dev.onefold.aws.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/// A server that stands in for Secrets Manager, and checks each signature by a calculation of its own; beside
/// it a receiver that wants the secret.
class StoredSecretTest {
    private static final String ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:receiver-AbCdEf";
    private static final String KEY = "key-of-the-role";
    private static final byte[] CONTENT = "{\"id\":1}\n".getBytes(StandardCharsets.UTF_8);
    private static final Pattern AUTHORIZATION = Pattern.compile(
            "AWS4-HMAC-SHA256 Credential=ROLE/(\\d{8})/(\\S+), SignedHeaders=(\\S+), Signature=([0-9a-f]{64})");

    private final List<String> asked = new ArrayList<>();
    private final List<String> taken = new ArrayList<>();
    private String stored = "Bearer one";
    private String wanted = "Bearer one";
    private int status = 200;
    private Instant now = Instant.parse("2026-02-03T04:05:06Z");
    private HttpServer server;

    @BeforeEach
    void open() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::secret);
        server.createContext("/receiver", this::receive);
        server.start();
    }

    @AfterEach
    void close() {
        server.stop(0);
    }

    private void secret(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        asked.add(exchange.getRequestHeaders().getFirst("X-Amz-Target") + " " + body);
        boolean isSigned = isSigned(exchange, body);
        String answer = !isSigned
                ? "{\"__type\":\"InvalidSignatureException\"}"
                : status == 200
                        ? Json.of(Map.of("ARN", ARN, "SecretString", stored))
                        : "{\"__type\":\"AccessDeniedException\",\"Message\":\"not authorized\"}";
        answer(exchange, isSigned ? status : 403, answer);
    }

    private void receive(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        taken.add(authorization);
        answer(exchange, authorization.equals(wanted) ? 200 : 401, "");
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /// Signature Version 4, by the text of its specification.
    private static boolean isSigned(HttpExchange exchange, String body) {
        Matcher said = AUTHORIZATION.matcher(exchange.getRequestHeaders().getFirst("Authorization"));
        assertThat(said.matches()).isTrue();
        assertThat(said.group(2)).isEqualTo("eu-west-1/secretsmanager/aws4_request");
        assertThat(said.group(3)).contains("host", "x-amz-target");
        StringBuilder canonical = new StringBuilder("POST\n/\n\n");
        for (String name : said.group(3).split(";", -1)) {
            canonical
                    .append(name)
                    .append(':')
                    .append(exchange.getRequestHeaders().getFirst(name).strip())
                    .append('\n');
        }
        canonical.append('\n').append(said.group(3)).append('\n').append(hash(body));
        String text = "AWS4-HMAC-SHA256\n" + exchange.getRequestHeaders().getFirst("X-Amz-Date") + "\n" + said.group(1)
                + "/" + said.group(2) + "\n" + hash(canonical.toString());
        byte[] key = ("AWS4" + KEY).getBytes(StandardCharsets.UTF_8);
        for (String part : List.of(said.group(1), "eu-west-1", "secretsmanager", "aws4_request", text)) {
            key = mac(key, part);
        }
        return HexFormat.of().formatHex(key).equals(said.group(4));
    }

    private static String hash(String text) {
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] mac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private StoredSecret secretOf(String field) {
        return StoredSecret.at(
                new StoredSecret.Place(ARN, field),
                address("/"),
                StaticCredentialsProvider.create(AwsBasicCredentials.create("ROLE", KEY)),
                () -> now);
    }

    private URI address(String path) {
        return URI.create("http://" + server.getAddress().getHostString() + ":"
                + server.getAddress().getPort() + path);
    }

    @Test
    void a_secret_is_asked_for_once_in_five_minutes_and_again_when_it_was_wrong() throws Exception {
        StoredSecret secret = secretOf("");
        assertThat(asked)
                .as("nothing is asked before it is needed, so no snapshot holds it")
                .isEmpty();
        assertThat(secret.value()).isEqualTo("Bearer one");
        assertThat(asked).containsExactly("secretsmanager.GetSecretValue {\"SecretId\":\"" + ARN + "\"}");
        stored = "Bearer two";
        now = now.plusSeconds(299);
        assertThat(secret.value()).isEqualTo("Bearer one");
        now = now.plusSeconds(1);
        assertThat(secret.value()).isEqualTo("Bearer two");
        stored = "Bearer three";
        secret.forget();
        assertThat(secret.value()).isEqualTo("Bearer three");
        assertThat(asked).hasSize(3);
    }

    @Test
    void a_field_of_a_secret_that_is_an_object_is_the_value_as_a_database_of_rds_has_it() throws Exception {
        stored = "{\"username\":\"loader\",\"password\":\"p\\\"ä\\\\\",\"port\":5432}";
        assertThat(secretOf("password").value()).isEqualTo("p\"ä\\");
        assertThat(secretOf("port").value()).isEqualTo("5432");
        assertThatThrownBy(() -> secretOf("pasword").value())
                .isInstanceOf(StoredSecret.Unreadable.class)
                .hasMessageContainingAll(ARN, "'pasword'", "ReceiverSecretField")
                .message()
                .doesNotContain("loader");
    }

    @Test
    void a_refusal_is_not_repeated_and_a_failing_service_is_asked_three_times() {
        status = 400;
        assertThatThrownBy(() -> secretOf("").value()).hasMessageContainingAll(ARN, "400", "AccessDenied");
        assertThat(asked).hasSize(1);
        status = 503;
        assertThatThrownBy(() -> secretOf("").value()).hasMessageContaining("503");
        assertThat(asked).hasSize(4);
        server.stop(0);
        assertThatThrownBy(() -> secretOf("").value()).hasMessageContainingAll("cannot be reached", "VPC");
    }

    @Test
    void a_rotated_secret_is_used_at_the_attempt_behind_the_one_that_it_fails_and_is_never_in_an_outcome() {
        Deliver.Receiver receiver =
                FunctionReceivers.open(pipeline(), StoredSecretTest.class.getClassLoader(), Optional.of(secretOf("")));
        assertThat(asked).isEmpty();
        assertThat(receiver.deliver().apply(handover())).isEqualTo(new Outcome.Done());
        stored = "Bearer two";
        wanted = "Bearer two";
        assertThat(receiver.deliver().apply(handover())).isInstanceOfSatisfying(Outcome.NotNow.class, outcome -> {
            assertThat(outcome.reason()).contains("401").doesNotContain("Bearer");
        });
        assertThat(receiver.deliver().apply(handover())).isEqualTo(new Outcome.Done());
        assertThat(taken).containsExactly("Bearer one", "Bearer one", "Bearer two");
        status = 400;
        now = now.plus(Duration.ofHours(1));
        assertThat(receiver.deliver().apply(handover()))
                .isInstanceOfSatisfying(
                        Outcome.NotNow.class,
                        outcome -> assertThat(outcome.reason()).contains(ARN));
        assertThat(taken).as("nothing is sent without the secret").hasSize(3);
    }

    private Pipeline pipeline() {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":1,"
                + "\"deliver\":{\"http\":\"" + address("/receiver")
                + "\",\"authorization\":\"TOKEN_OF_NO_VARIABLE\"},\"receiver\":\"once\"}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private Deliver.Handover handover() {
        BatchNumber number = BatchNumber.of(1);
        Manifest manifest = new Manifest(
                Manifest.id("orders", number),
                number,
                "",
                1,
                CONTENT.length,
                Sha256.hex(CONTENT),
                "",
                "",
                now,
                now,
                now);
        return new Deliver.Handover(manifest, 1, () -> new ByteArrayInputStream(CONTENT), Optional.empty());
    }
}
