package dev.onefold.aws.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.zip.GZIPInputStream;

/// A deployment on DynamoDB Local, and requests to its URL.
final class ServedTrades {
    static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk", "book").sum("value", "value", 18, 2).count("trades"))
            .build();

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final ObjectMapper JSON = new ObjectMapper();

    final Puts puts = new Puts();
    final Store store;
    Duration most = Duration.ofSeconds(20);
    private final UrlHandler serving;

    private ServedTrades(Store store, Access access, boolean isWritten, int bytesMax) throws IOException {
        this.store = store;
        serving = new UrlHandler(store, PIPELINE, access, isWritten ? intake() : null, bytesMax);
    }

    private StreamIntake intake() {
        return new StreamIntake(() -> puts, "trades-input", store.threads(), RandomGenerator.getDefault());
    }

    /// With some trades in it.
    static Store store(String deployment) {
        Store store = DYNAMO.store(deployment);
        AwsEngine engine = AwsEngine.open(store, PIPELINE, 2, 4);
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 1; i <= 30; i++) {
            String record = "{\"id\":\"t%d\",\"v\":1,\"desk\":\"desk-%d\",\"book\":\"book %d\",\"value\":%d.25}"
                    .formatted(i, i % 3, i % 5, i);
            arrivals.add(new Arrival("s", String.valueOf(i), 0, record.getBytes(StandardCharsets.UTF_8), 1_000));
        }
        arrivals.add(new Arrival("s", "99", 0, "secret payload".getBytes(StandardCharsets.UTF_8), 1_000));
        StateAndMap.process(store, arrivals);
        engine.reduce();
        return store;
    }

    static Store empty(String deployment) {
        return DYNAMO.store(deployment);
    }

    static ServedTrades reading(Store store) throws IOException {
        return new ServedTrades(store, new Access.Signed(), false, 4_000_000);
    }

    static ServedTrades writing(Store store, Access access) throws IOException {
        return new ServedTrades(store, access, true, 4_000_000);
    }

    static ServedTrades small(Store store, int bytesMax) throws IOException {
        return new ServedTrades(store, new Access.Signed(), false, bytesMax);
    }

    /// An answer, decompressed.
    record Answered(int status, Map<String, String> headers, String body) {
        JsonNode json() throws IOException {
            return JSON.readTree(body);
        }

        String kind() throws IOException {
            return json().path("kind").asText();
        }
    }

    /// The event of a request that AWS has checked.
    static ObjectNode event(String method, String target) {
        ObjectNode event = unsigned(method, target);
        ((ObjectNode) event.get("requestContext"))
                .putObject("authorizer")
                .putObject("iam")
                .put("accountId", "123456789012")
                .put("userArn", "arn:aws:iam::123456789012:user/desk");
        return event;
    }

    static ObjectNode unsigned(String method, String target) {
        ObjectNode event = JSON.createObjectNode().put("version", "2.0").put("routeKey", "$default");
        int mark = target.indexOf('?');
        event.put("rawPath", mark < 0 ? target : target.substring(0, mark));
        event.put("rawQueryString", mark < 0 ? "" : target.substring(mark + 1));
        event.putObject("headers").put("host", "x.lambda-url.eu-central-1.on.aws");
        event.putObject("requestContext")
                .putObject("http")
                .put("method", method)
                .put("path", "/x");
        return event.put("isBase64Encoded", false);
    }

    static ObjectNode with(ObjectNode event, String header, String value) {
        ((ObjectNode) event.get("headers")).put(header, value);
        return event;
    }

    static ObjectNode body(ObjectNode event, byte[] body) {
        return event.put("body", Base64.getEncoder().encodeToString(body)).put("isBase64Encoded", true);
    }

    Answered get(String target) throws IOException {
        return send(event("GET", target));
    }

    Answered post(String body) throws IOException {
        return send(event("POST", "/v1/trades/records").put("body", body));
    }

    Answered send(JsonNode event) throws IOException {
        return send(JSON.writeValueAsBytes(event));
    }

    Answered send(byte[] event) throws IOException {
        byte[] payload = serving.answer(event, () -> most).json();
        JsonNode answer = JSON.readTree(payload);
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        answer.path("headers")
                .properties()
                .forEach(each -> headers.put(each.getKey(), each.getValue().asText()));
        byte[] body = Base64.getDecoder().decode(answer.path("body").asText());
        if ("gzip".equals(headers.get("Content-Encoding")) && body.length > 0) { // Nothing comes with HEAD.
            body = new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes();
        }
        return new Answered(answer.path("statusCode").asInt(), headers, new String(body, StandardCharsets.UTF_8));
    }
}
