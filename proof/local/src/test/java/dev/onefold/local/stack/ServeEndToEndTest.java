package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.Request;
import dev.onefold.api.Routes;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The service as a function: records in and totals out through the URL, with the functions' own code, roles enforced,
/// beside the embedded engine that has the same records.
@Tag("campaign")
class ServeEndToEndTest {
    private static final String SIGNED = "AWS4-HMAC-SHA256 Credential=OPERATOR/20261124/local/lambda/aws4_request, x";
    private static final String BASE = "/v1/trades/";

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();

    private static LocalDeployment deployment() throws IOException {
        return LocalDeployment.open(
                "trades",
                Template.of(Trades.PIPELINE, Input.NEW_STREAM, Service.WRITE).yaml(),
                Map.of(
                        "BatchSize",
                        "200",
                        "ParallelizationFactor",
                        "2",
                        "Gates",
                        "64",
                        "TickMinutes",
                        "1",
                        "ServeTimeout",
                        "300"),
                Parts.machine(2),
                StackFaults.NONE);
    }

    private HttpResponse<String> send(URI url, String target, byte[] body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(target));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(
                (body.length == 0 ? request : request.POST(BodyPublishers.ofByteArray(body))).build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> get(URI url, String target) throws IOException, InterruptedException {
        return send(url, target, new byte[0], "Authorization", SIGNED);
    }

    private void post(URI url, List<byte[]> records) throws IOException, InterruptedException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        records.forEach(record -> {
            body.writeBytes(record);
            body.write('\n');
        });
        HttpResponse<String> answer = send(url, BASE + "records", body.toByteArray(), "Authorization", SIGNED);
        assertThat(answer.body()).isEqualTo("{\"put\":" + records.size() + "}\n");
        assertThat(answer.statusCode()).isEqualTo(202);
    }

    /// Without the time of the answer and the places of records, which are each runtime's own.
    private static String withoutPlaces(String json) {
        return json.replaceFirst("\"cut\":\\{[^]]*]\\}", "\"cut\":{}")
                .replaceFirst("\"source\":\"[^\"]*\",\"offset\":[0-9]+", "\"source\":,\"offset\":");
    }

    private static String embedded(Routes routes, String target) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        routes.answer(
                Request.of("GET", target, new byte[0]),
                (_, _) -> true,
                response -> response.body().writeTo(body));
        return body.toString(StandardCharsets.UTF_8);
    }

    private static List<String> targets() {
        return List.of(
                "totals",
                "totals?depth=1",
                "totals?group=desk-1",
                "totals?group-json=%5B%22desk-2%22%2C%22region-3%22%5D",
                "totals?group=nowhere",
                "totals?by=value&top=2",
                "totals?by=largest&limit=2&skip=1",
                "totals?limit=5",
                "totals?format=csv",
                "totals?format=csv&depth=1&neutralise-formulas=true",
                "rows/1",
                "rows/2",
                "rows/nobody",
                "rows/1/2",
                "totals?top=1",
                "totals?zzz=1",
                "totals?depth=x");
    }

    @Test
    void what_goes_in_through_the_url_comes_out_byte_for_byte_as_on_one_machine() throws Exception {
        Trades trades = new Trades(600, 11);
        try (LocalDeployment deployment = deployment();
                EmbeddedEngine engine = EmbeddedEngine.open(directory, Trades.PIPELINE, Settings.defaults())) {
            URI url = URI.create(deployment.outputs().get("ServeUrl"));
            assertThat(send(url, "/v1", new byte[0]).statusCode()).isEqualTo(403);
            HttpResponse<String> early = get(url, BASE + "totals");
            assertThat(early.statusCode()).isEqualTo(503);
            assertThat(early.body()).contains("No record has come");
            for (int from = 0; from < trades.records.size(); from += 250) {
                post(url, trades.records.subList(from, Math.min(from + 250, trades.records.size())));
            }
            post(url, trades.records.subList(0, 300)); // As if the answer had been lost.
            deployment.drained(Duration.ofMinutes(5)).join();
            engine.append(
                    "http",
                    trades.records.stream()
                            .map(record -> new String(record, StandardCharsets.UTF_8))
                            .toList());
            Routes routes = new Routes(List.of(engine));
            List<String> different = new ArrayList<>();
            for (String target : targets()) {
                String here = withoutPlaces(embedded(routes, BASE + target));
                String there = withoutPlaces(get(url, BASE + target).body());
                if (!here.equals(there)) {
                    different.add(target + "\n  " + here + "\n  " + there);
                }
            }
            assertThat(different).isEmpty();
            assertThat(get(url, BASE + "changes").statusCode()).isEqualTo(406);
            assertThat(get(url, "/").body()).contains("Onefold");
            EndToEnd.assertRight(deployment, trades.totals());
            // A line that is rejected when it is sent again is another dead letter, as on one machine.
            assertThat(new TreeSet<>(EndToEnd.letters(deployment)))
                    .containsExactlyInAnyOrderElementsOf(new TreeSet<>(trades.broken));
            post(url, List.of("{\"id\":1,\"v\":99,\"value\":\"much\"}".getBytes(StandardCharsets.UTF_8)));
            deployment.drained(Duration.ofMinutes(5)).join();
            assertThat(get(url, BASE + "rows/1").body())
                    .contains("\"deadLetters\":[{")
                    .contains("\"version\":\"99\"");
            assertThat(EndToEnd.unused(deployment).stream().filter(each -> each.startsWith("ServeRole")))
                    .allMatch(each -> each.startsWith("ServeRole Totals dynamodb:PutItem") // No lane lacks a header.
                            || each.startsWith("ServeRole Totals dynamodb:UpdateItem")); // Nobody has added meanwhile.
        }
    }
}
