package dev.onefold.local.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.local.server.ObjectServer;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// In front of an object store, which answers whatever it is sent; the other services are behind it in the end-to-end
/// test.
class GateTest {
    private static final Role WRITER = new Role(
            "Writer",
            "WRITER",
            List.of(new Role.Statement("Letters", List.of("s3:PutObject"), List.of("arn:aws:s3:::letters/*"))));
    private static final Role ROWS = new Role(
            "Rows",
            "ROWS",
            List.of(new Role.Statement(
                    "Rows",
                    List.of("dynamodb:PutItem", "dynamodb:BatchGetItem"),
                    List.of("arn:aws:dynamodb:eu-central-1:000000000000:table/rows"))));

    private static Gate gate(ObjectServer objects, Faults faults) throws IOException {
        return Gate.open(
                Account.LOCAL,
                Map.of(Service.S3, objects.uri(), Service.DYNAMODB, objects.uri()),
                List.of(WRITER, ROWS, Role.OPERATOR),
                faults,
                42);
    }

    private static HttpRequest.Builder request(URI uri, String accessKey) {
        return HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20261121/eu-central-1/x");
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    private static HttpResponse<String> put(Gate gate, String accessKey, String object)
            throws IOException, InterruptedException {
        return send(request(gate.uri().resolve(object), accessKey).PUT(HttpRequest.BodyPublishers.ofString("bytes")));
    }

    private static HttpResponse<String> tables(Gate gate, String operation, String body)
            throws IOException, InterruptedException {
        return send(request(gate.uri(), "ROWS")
                .header("X-Amz-Target", "DynamoDB_20120810." + operation)
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    @Test
    void what_a_role_allows_passes_and_is_noted_as_used() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("letters");
                Gate gate = gate(objects, Faults.NONE)) {
            assertThat(gate.usage().unused(List.of(WRITER)))
                    .containsExactly(new Usage.Permission("Writer", "Letters", "s3:PutObject"));
            assertThat(put(gate, "WRITER", "/letters/1").statusCode()).isEqualTo(200);
            assertThat(send(request(objects.uri().resolve("/letters/1"), "ANY")).body())
                    .isEqualTo("bytes");
            assertThat(gate.usage().unused(List.of(WRITER))).isEmpty();
            assertThat(gate.usage().refused()).isEmpty();
            assertThat(gate.usage().requests()).isEqualTo(Map.of("Writer PutObject", 1L));
        }
    }

    @Test
    void what_a_role_does_not_allow_is_refused_and_reaches_nobody() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("letters");
                Gate gate = gate(objects, Faults.NONE)) {
            HttpResponse<String> elsewhere = put(gate, "WRITER", "/others/1");
            assertThat(elsewhere.statusCode()).isEqualTo(403);
            assertThat(elsewhere.body()).contains("AccessDenied", "s3:PutObject", "arn:aws:s3:::others/1");
            assertThat(send(request(objects.uri().resolve("/others/1"), "ANY")).statusCode())
                    .isEqualTo(404);
            assertThat(send(request(gate.uri().resolve("/letters/1"), "WRITER")).statusCode())
                    .isEqualTo(403);
            assertThat(put(gate, "NOBODY", "/letters/1").body()).contains("UnrecognizedClientException");
            assertThat(gate.usage().refused())
                    .containsExactly(
                            "Writer may not s3:GetObject on arn:aws:s3:::letters/1",
                            "Writer may not s3:PutObject on arn:aws:s3:::others/1");
        }
    }

    @Test
    void each_item_of_a_transaction_needs_its_own_permission() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("letters");
                Gate gate = gate(objects, Faults.NONE)) {
            String put = "{\"Put\":{\"TableName\":\"rows\"}}";
            assertThat(tables(gate, "TransactWriteItems", "{\"TransactItems\":[" + put + "]}")
                            .body())
                    .doesNotContain("AccessDenied");
            String delete = "{\"Delete\":{\"TableName\":\"rows\"}}";
            assertThat(tables(gate, "TransactWriteItems", "{\"TransactItems\":[" + put + "," + delete + "]}")
                            .body())
                    .contains("AccessDeniedException", "dynamodb:DeleteItem");
            String other = "{\"Put\":{\"TableName\":\"totals\"}}";
            assertThat(tables(gate, "TransactWriteItems", "{\"TransactItems\":[" + put + "," + other + "]}")
                            .body())
                    .contains("AccessDeniedException", "table/totals");
            assertThat(tables(gate, "BatchGetItem", "{\"RequestItems\":{\"rows\":{},\"totals\":{}}}")
                            .body())
                    .contains("AccessDeniedException", "table/totals");
        }
    }

    @Test
    void a_conflict_cancels_with_one_reason_for_each_item() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("letters");
                Gate gate = gate(objects, new Faults(0, 0, 1_000, 0, 0, 0, Duration.ZERO))) {
            String put = "{\"Put\":{\"TableName\":\"rows\"}}";
            assertThat(tables(gate, "TransactWriteItems", "{\"TransactItems\":[" + put + "," + put + "]}")
                            .body())
                    .contains(
                            "TransactionCanceledException", "[{\"Code\":\"None\"},{\"Code\":\"TransactionConflict\"}]");
            assertThat(tables(gate, "PutItem", "{\"TableName\":\"rows\"}").body())
                    .contains("TransactionConflictException");
        }
    }

    @Test
    void a_lost_reply_is_of_a_request_that_was_done() throws IOException, InterruptedException {
        try (ObjectServer objects = ObjectServer.open("letters");
                Gate gate = gate(objects, new Faults(0, 0, 0, 1_000, 0, 0, Duration.ZERO))) {
            assertThatThrownBy(() -> put(gate, "WRITER", "/letters/1")).isInstanceOf(IOException.class);
            assertThat(send(request(objects.uri().resolve("/letters/1"), "ANY")).body())
                    .isEqualTo("bytes");
            assertThat(gate.usage().faults()).containsKey("LOST");
        }
    }

    @Test
    void a_throttled_or_broken_request_reaches_nobody() throws IOException, InterruptedException {
        for (Faults faults : List.of(
                new Faults(1_000, 0, 0, 0, 0, 0, Duration.ZERO), new Faults(0, 1_000, 0, 0, 0, 0, Duration.ZERO))) {
            try (ObjectServer objects = ObjectServer.open("letters");
                    Gate gate = gate(objects, faults)) {
                assertThat(put(gate, "WRITER", "/letters/1").statusCode()).isIn(500, 503);
                assertThat(send(request(objects.uri().resolve("/letters/1"), "ANY"))
                                .statusCode())
                        .isEqualTo(404);
            }
        }
    }
}
