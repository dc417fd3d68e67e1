package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.Failure;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogNote;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Totals with their tags, changes as events, metrics and health.
@Timeout(60)
class AnswersTest {
    private static final String RECORDS = "/v1/trades/records";
    private static final String TOTALS = "/v1/trades/totals";

    private static final Pattern METRIC = Pattern.compile("\\bonefold_[a-z_]+");
    private static final Pattern MATCHER = Pattern.compile("([a-z]+)=~?\\\\?\"([^\"\\\\]+)\\\\?\"");
    private static final Pattern GROUPING = Pattern.compile("(?:by|on) \\(([a-z, ]+)\\)");

    @TempDir
    Path directory;

    @Test
    void a_reader_that_has_the_cut_already_is_told_so_until_something_changes() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post(RECORDS, record(1, "1.00") + "{\"id\":7}\n");
            String tag = on.get(TOTALS).headers().firstValue("ETag").orElseThrow();
            assertThat(on.get(TOTALS, "If-None-Match", "\"other\", " + tag).statusCode())
                    .isEqualTo(304);
            assertThat(on.get(TOTALS + "?depth=0", "If-None-Match", tag).statusCode())
                    .isEqualTo(200);
            assertThat(on.post(
                                    "/v1/trades/dead-letters/1/redrive?edited=true",
                                    record(7, "2.00").strip())
                            .body())
                    .contains("accepted");
            HttpResponse<String> after = on.get(TOTALS, "If-None-Match", tag);
            assertThat(after.statusCode()).isEqualTo(200);
            assertThat(after.body()).contains("3.00");
        }
    }

    @Test
    void a_caller_finds_what_it_has_written() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post(RECORDS + "?source=desk:1", record(1, "1.00"));
            assertThat(on.get(TOTALS + "?at-least=desk:1:1").body()).contains("1.00");
            assertThat(on.get(TOTALS + "?at-least=1").statusCode()).isEqualTo(400);
            Thread later = Thread.ofVirtual().start(() -> {
                try {
                    on.post(RECORDS + "?source=desk:1", record(2, "2.00"));
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(on.get(TOTALS + "?at-least=desk:1:2").body()).contains("3.00");
            later.join();
        }
    }

    @Test
    void changes_are_events_and_a_reader_that_comes_again_gets_only_what_is_new() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post(RECORDS, record(1, "1.00"));
            String id;
            try (Socket socket = on.connect()) {
                BufferedReader events = changes(socket, "?depth=0", "");
                assertThat(line(events, "event: ")).isEqualTo("totals");
                id = line(events, "id: ");
                assertThat(line(events, "data: {\"group\":[]")).contains("1.00");
                on.post(RECORDS, record(2, "2.00"));
                String next = line(events, "id: ");
                assertThat(next).isNotEqualTo(id);
                assertThat(line(events, "data: {\"group\":[]")).contains("3.00");
                id = next;
            }
            try (Socket socket = on.connect()) {
                BufferedReader events = changes(socket, "?depth=0", "Last-Event-ID: " + id + "\r\n");
                on.post(RECORDS, record(3, "4.00"));
                assertThat(line(events, "data: {\"group\":[]"))
                        .as("nothing before it")
                        .contains("7.00");
            }
            assertThat(on.get("/v1/trades/changes?group=x%2Fy%2Fz&x=1").statusCode())
                    .isEqualTo(400);
            assertThat(on.get("/v1/nothing/changes").statusCode()).isEqualTo(404);
            try (Socket socket = on.connect()) {
                BufferedReader events = changes(socket, "", "");
                line(events, "data: ");
                on.service.close(); // A stream does not hold up the end.
                assertThat(events.lines()
                                .filter(each -> each.startsWith("event"))
                                .toList())
                        .isEmpty();
            }
        }
    }

    private static BufferedReader changes(Socket socket, String query, String header) throws IOException {
        socket.getOutputStream()
                .write(bytes("GET /v1/trades/changes" + query + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n"));
        BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        assertThat(line(in, "Content-Type: ")).isEqualTo("text/event-stream");
        return in;
    }

    /// The rest of the next line that begins so.
    private static String line(BufferedReader in, String begin) throws IOException {
        String line = in.readLine();
        while (line != null && !line.startsWith(begin)) {
            line = in.readLine();
        }
        return String.valueOf(line).substring(line == null ? 0 : begin.length());
    }

    /// Up to offset 3 of 5, without a record.
    private static void readPartition(EmbeddedEngine engine) {
        engine.fold(new LogBatch("topic", 7, 0, 3, List.of()));
        engine.note("topic", 7, new LogNote(5, System.currentTimeMillis() - 3_000, 60_000, "", ""));
    }

    @Test
    void each_metric_is_in_the_documentation_and_the_other_way_round() throws Exception {
        String page = Files.readString(Path.of("../../docs/serve.md"));
        try (RunningService on = new RunningService(directory)) {
            on.post(RECORDS, record(1, "1.00"));
            Path file = Files.writeString(directory.resolve("in.ndjson"), record(2, "1.00") + "{\n");
            ((EmbeddedEngine) on.trades).fold(FileSource.of(file), FoldListener.silent());
            readPartition((EmbeddedEngine) on.trades);
            Files.writeString(file, record(3, "1.00"), StandardOpenOption.APPEND);
            String metrics = on.get("/metrics").body();
            assertThat(metrics)
                    .contains("onefold_lag_bytes{pipeline=\"trades\",source=\"" + file.toRealPath() + "\"} "
                            + record(3, "1.00").length());
            assertThat(metrics)
                    .contains("onefold_dead_letters_by_reason{pipeline=\"trades\",reason=\"malformed\"} 1.0");
            assertThat(metrics).contains("onefold_batches{pipeline=\"bursts\",state=\"waiting\"} 0.0");
            assertThat(metrics).contains("onefold_log_behind_offsets{pipeline=\"trades\",source=\"topic/7\"} 2.0");
            assertThat(metrics)
                    .containsPattern("onefold_log_behind_seconds\\{pipeline=\"trades\",source=\"topic/7\"} [1-9]")
                    .containsPattern(
                            "onefold_log_retention_left_seconds\\{pipeline=\"trades\",source=\"topic/7\"} [1-5]");
            assertThat(metrics).contains("onefold_log_waits{pipeline=\"trades\",source=\"topic/7\"} 0.0");
            assertThat(metrics).contains("onefold_log_stopped{pipeline=\"trades\",source=\"topic/7\"} 0.0");
            assertThat(names(metrics, "(?m)^# TYPE (\\S+)")).isEqualTo(names(page, "(?m)^\\| `(onefold_[a-z_]+)`"));
            assertThat(metrics).contains("onefold_records_total{fate=\"accepted\",pipeline=\"trades\"} 2.0");
            assertThat(metrics).contains("onefold_http_acknowledge_seconds_count{pipeline=\"trades\"} 1");
            assertThat(metrics).containsPattern("onefold_force_seconds_count\\{pipeline=\"trades\"} [1-9]");
            assertThat(metrics)
                    .contains("onefold_delay_seconds_count{from=\"requests\",pipeline=\"trades\"} 1\n")
                    .containsPattern(
                            "onefold_delay_seconds\\{from=\"requests\",pipeline=\"trades\",quantile=\"0.99\"} [0-9]");
            on.trades.checkpointNow();
            assertThat(on.get("/metrics").body())
                    .containsPattern("onefold_checkpoint_seconds_count\\{pipeline=\"trades\"} [1-9]")
                    .containsPattern("onefold_checkpoint_seconds_sum\\{pipeline=\"trades\"} [0-9.E-]*[1-9]");
        }
    }

    @Test
    void silent_records_have_their_cause_as_a_label_and_no_name_of_a_table() throws Exception {
        Pipeline orders = PipelineBuilder.named("orders")
                .debezium("public.orders")
                .key("id")
                .rollup(rollup -> rollup.count("n"))
                .build();
        String change = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"public\",\"table\":\"secret\"}}";
        String sum = "onefold_records_total{fate=\"silent\",pipeline=\"orders\"} 0.0";
        Settings settings = new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, orders, dev.onefold.embedded.Settings.defaults());
                HttpService on = HttpService.open(settings, List.of(Served.of(engine, directory.resolve("requests"))));
                HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest ask =
                    HttpRequest.newBuilder(on.uri().resolve("/metrics")).build();
            assertThat(client.send(ask, BodyHandlers.ofString()).body())
                    .contains(sum)
                    .doesNotContain("cause=");
            engine.append("log", List.of("null", change, "null", change.replace("secret", "other")));
            assertThat(client.send(ask, BodyHandlers.ofString()).body())
                    .contains("onefold_records_total{cause=\"other table\",fate=\"silent\",pipeline=\"orders\"} 2.0\n")
                    .contains("onefold_records_total{cause=\"tombstone\",fate=\"silent\",pipeline=\"orders\"} 2.0\n")
                    .contains(sum)
                    .doesNotContain("secret");
        }
    }

    @Test
    void what_a_slow_sender_takes_is_in_the_time_until_its_records_are_visible_and_not_in_that_until_the_answer()
            throws Exception {
        try (RunningService on = new RunningService(directory);
                Socket slow = on.connect()) {
            String record = record(1, "1.00");
            slow.getOutputStream()
                    .write(RunningService.bytes(
                            "POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                    + "Content-Length: " + record.length() + "\r\n\r\n"));
            long began = System.nanoTime();
            while (System.nanoTime() - began < 500_000_000) {
                LockSupport.parkNanos(10_000_000);
            }
            slow.getOutputStream().write(RunningService.bytes(record));
            assertThat(RunningService.read(slow)).startsWith("HTTP/1.1 200");
            String metrics = on.get("/metrics").body();
            double visible = sum(metrics, "onefold_http_visible_seconds");
            assertThat(visible).isGreaterThan(0.4);
            assertThat(visible - sum(metrics, "onefold_http_acknowledge_seconds"))
                    .isGreaterThan(0.4);
        }
    }

    private static double sum(String metrics, String name) {
        Matcher found =
                Pattern.compile(name + "_sum\\{pipeline=\"trades\"} (\\S+)").matcher(metrics);
        assertThat(found.find()).as(name).isTrue();
        return Double.parseDouble(found.group(1));
    }

    @Test
    void while_pipelines_are_opened_the_service_is_alive_and_not_ready() throws Exception {
        try (RunningService on = new RunningService(directory);
                HttpService opening = HttpService.listen(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS))) {
            assertThat(on.get(opening.uri() + "/health/live").statusCode()).isEqualTo(200);
            for (String path : List.of("/health/ready", "/v1/trades/totals", "/")) {
                HttpResponse<String> answer = on.get(opening.uri() + path);
                assertThat(answer.statusCode()).as(path).isEqualTo(503);
                assertThat(answer.body()).contains("NOT_READY", "being opened");
                assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            }
            opening.serve(List.of(Served.of(on.trades, null)));
            assertThat(on.get(opening.uri() + "/health/ready").statusCode()).isEqualTo(200);
            assertThat(on.get(opening.uri() + "/v1/trades/totals").statusCode()).isEqualTo(200);
        }
    }

    private static Set<String> names(String text, String pattern) {
        Set<String> names = new TreeSet<>();
        Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1))
                .forEach(names::add);
        return names;
    }

    @Test
    void the_service_says_when_it_is_not_ready_and_takes_no_records_then() throws Exception {
        AtomicReference<Optional<Failure>> refusal = new AtomicReference<>(Optional.empty());
        try (RunningService on = new RunningService(directory);
                HttpService other = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS),
                        List.of(new Served(on.lines, null, refusal::get, List::of)))) {
            String at = other.uri().toString();
            assertThat(on.get(at + "/health/ready").statusCode()).isEqualTo(200);
            refusal.set(Optional.of(new Failure(507, "NO_SPACE", "The disk is full.")));
            assertThat(on.get(at + "/health/ready").statusCode()).isEqualTo(503);
            assertThat(on.get(at + "/health/live").statusCode()).isEqualTo(200);
            assertThat(on.post(at + "/v1/lines/records", "{}\n").statusCode()).isEqualTo(507);
            assertThat(on.get(at + "/v1/lines/totals").statusCode()).isEqualTo(200);
            on.lines.close();
            assertThat(on.get(at + "/health/live").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void each_kind_of_problem_is_in_the_documentation() throws Exception {
        String page = Files.readString(Path.of("../../docs/serve.md"));
        String problems = page.substring(page.indexOf("\n## Problems\n"), page.indexOf("\n## Limits\n"));
        Set<String> kinds = new TreeSet<>();
        for (java.lang.reflect.Field field : Failure.class.getDeclaredFields()) {
            if (field.getName().matches("[A-Z_]+") && !field.getName().equals("CONTENT_TYPE")) {
                kinds.add(field.getName());
            }
        }
        for (var kind : dev.onefold.core.EngineException.Kind.values()) {
            kinds.add(kind.name());
        }
        assertThat(names(problems, "`([A-Z_]+)`")).isEqualTo(kinds);
    }

    @Test
    void a_problem_names_no_address_of_the_project() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            assertThat(on.get("/v1/nowhere/totals").body())
                    .contains("\"kind\":\"NO_ROUTE\"")
                    .doesNotContain("://");
        }
    }

    @Test
    void the_dashboard_and_the_alerts_ask_for_what_the_service_has() throws Exception {
        String dashboard = Files.readString(Path.of("../../operations/grafana.json"));
        String alerts = Files.readString(Path.of("../../operations/alerts.yaml"));
        assertThat(JsonText.read(dashboard, new Problems())).isInstanceOf(Node.Mapping.class);
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1"));
            Path file = Files.writeString(directory.resolve("in.ndjson"), record(2, "1"));
            ((EmbeddedEngine) on.trades).fold(FileSource.of(file), FoldListener.silent());
            readPartition((EmbeddedEngine) on.trades);
            String metrics = on.get("/metrics").body();
            for (String text : List.of(dashboard, alerts)) {
                assertThat(found(METRIC, text, 0)).hasSizeGreaterThan(9).isSubsetOf(found(METRIC, metrics, 0));
                for (String labels : found(GROUPING, text, 1)) {
                    assertThat(List.of(labels.split(", ", -1)))
                            .isSubsetOf("pipeline", "fate", "le", "status", "reason", "state", "instance");
                }
                MATCHER.matcher(text).results().forEach(matcher -> {
                    for (String value : matcher.group(2).split("\\|", -1)) {
                        boolean isFree = value.startsWith("$")
                                || List.of("status", "job").contains(matcher.group(1));
                        assertThat(isFree || metrics.contains(matcher.group(1) + "=\"" + value + "\""))
                                .as(matcher.group())
                                .isTrue();
                    }
                });
            }
            // Nothing is measured that nobody sees.
            Set<String> shown = found(METRIC, dashboard, 0).stream()
                    .map(name -> name.replaceFirst("_(sum|count|bucket)$", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(shown).containsAll(found(Pattern.compile("(?m)^# TYPE (\\S+)"), metrics, 1));
        }
    }

    private static Set<String> found(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map(found -> found.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
