package dev.onefold.server;

import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onefold.core.Engine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.embedded.EmbeddedEngine;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The everyday verbs by HTTP.
@Timeout(60)
class EverydayTest {
    private static final String RECORDS = "/v1/trades/records";
    private static final String LETTERS = "/v1/trades/dead-letters";

    @TempDir
    Path directory;

    @Test
    void dead_letters_are_listed_shown_edited_redriven_and_purged() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            String body = record(1, "1.00") + "{\"id\":2,\"v\":1,\"desk\":\"a\",\"value\":\"much\"}\nnonsense\n";
            assertThat(on.post(RECORDS + "?source=desk", body).body()).contains("\"letters\":[1,2]");
            assertThat(on.get(LETTERS + "?limit=1").body())
                    .contains("\"size\":2", "\"id\":1")
                    .doesNotContain("\"id\":2");
            assertThat(on.get(LETTERS + "/2").body())
                    .contains("\"text\":\"nonsense\"", "\"source\":\"desk\"", "\"line\":3");
            assertThat(on.get(LETTERS + "/2/record").body()).isEqualTo("nonsense");
            assertThat(on.post(LETTERS + "/1/redrive", "").body()).doesNotContain("accepted");
            assertThat(on.post(
                                    LETTERS + "/1/redrive?edited=true",
                                    record(2, "2.00").strip())
                            .body())
                    .contains("\"outcome\":\"accepted\"");
            assertThat(on.post(LETTERS + "/purge?id=2", "").body()).contains("\"purged\":1");
            assertThat(on.get(LETTERS).body()).contains("\"size\":0");
            assertThat(on.get(LETTERS + "/2").statusCode()).isEqualTo(404);
            assertThat(on.get("/v1/trades/rows/2").body()).contains("\"key\":[\"2\"]");
            assertThat(on.get("/v1/trades/rows/3").statusCode()).isEqualTo(404);
            assertThat(on.post("/v1/trades/verify", "").body()).contains("\"equal\":true", "\"differences\":[]");
            assertThat(on.post("/v1/trades/checkpoint", "").statusCode()).isEqualTo(200);
            assertThat(on.get("/v1/trades/status").body()).contains("\"deadLetters\":0");
        }
    }

    @Test
    void batches_are_sealed_listed_and_read() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            assertThat(on.post("/v1/bursts/records", "{\"id\":1}\n{\"id\":2}\n").body())
                    .contains("\"accepted\":2");
            assertThat(on.post("/v1/bursts/batches/seal", "").body()).contains("true");
            assertThat(on.get("/v1/bursts/batches").body()).contains("\"sealed\":1", "\"undelivered\":1");
            assertThat(on.get("/v1/bursts/batches/list?open=true").body()).contains("\"records\":2");
            assertThat(on.get("/v1/bursts/batches/1/content").body()).isEqualTo("{\"id\":1}\n{\"id\":2}\n");
            assertThat(on.get("/v1/bursts/batches/9").statusCode()).isEqualTo(404);
            assertThat(on.get("/v1/trades/batches").statusCode()).isEqualTo(400);
        }
    }

    @Test
    void csv_is_taken_by_a_pipeline_that_reads_it_and_no_header_is_taken_for_a_record() throws Exception {
        PipelineBuilder pipeline = PipelineBuilder.named("sheet")
                .csv()
                .key("id")
                .version("v")
                .rollup(rollup -> rollup.levels("desk").sum("value", "value", 18, 2));
        try (RunningService on = new RunningService(directory);
                Engine sheet = EmbeddedEngine.open(
                        directory.resolve("sheet"), pipeline.build(), dev.onefold.embedded.Settings.defaults());
                HttpService service = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS),
                        List.of(Served.of(sheet, null)))) {
            String at = service.uri() + "/v1/sheet/records";
            String lines = "id,v,desk,value\n1,1,a,1.50\n";
            assertThat(on.post(at, lines).body()).contains("source").contains("400");
            assertThat(on.post(at + "?source=s", lines, "Content-Type", "text/csv; charset=utf-8")
                            .body())
                    .contains("\"accepted\":1", "\"rejected\":0");
            assertThat(on.post(at + "?source=s", "2,1,a,2.50\n").body()).contains("\"accepted\":1");
            assertThat(on.post(at + "?source=s", "{}\n", "Content-Type", "application/x-ndjson")
                            .statusCode())
                    .isEqualTo(415);
            assertThat(on.get(service.uri() + "/v1/sheet/totals?format=csv").body())
                    .contains("4.00");
        }
    }

    @Test
    void a_json_array_is_taken_as_its_elements() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            String records = "/v1/trades/records?source=s";
            String array = "[" + record(1, "1.50") + "," + record(2, "2.50") + ", 3]";
            assertThat(on.post(records, array, "Content-Type", "application/json; charset=utf-8")
                            .body())
                    .contains("\"records\":3", "\"accepted\":2", "\"rejected\":1");
            HttpResponse<String> cut = on.post(records, "[" + record(3, "1") + ",", "Content-Type", "application/json");
            assertThat(cut.statusCode()).isEqualTo(400);
            assertThat(cut.body()).contains("the array that begins in line 1 has no end", "Nothing was taken");
            assertThat(on.post(records + "&from=1", array, "Content-Type", "application/json")
                            .statusCode())
                    .isEqualTo(400);
            assertThat(on.post(records, record(4, "1"), "Content-Type", "application/json")
                            .body())
                    .contains("\"accepted\":1");
            assertThat(on.post(records, record(5, "1").replace(",", ",\n"), "Content-Type", "application/json")
                            .body())
                    .contains("\"records\":1", "\"accepted\":1");
            HttpResponse<String> open = on.post(records, record(6, "1").replace(",", ",\n"));
            assertThat(open.statusCode()).isEqualTo(400);
            assertThat(open.body()).contains("Send it with Content-Type: application/json");
            assertThat(on.get("/v1/trades/totals?format=csv").body()).contains("6.00");
        }
    }

    @Test
    void many_clients_of_one_source_count_each_record_once() throws Exception {
        int clients = 6;
        int requests = 20;
        try (RunningService on = new RunningService(directory);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> done = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                int first = client * requests;
                done.add(threads.submit(() -> {
                    int busy = 0;
                    for (int i = first; i < first + requests; ) {
                        HttpResponse<String> answer = on.post("/v1/lines/records?source=s", record(i, "1.00"));
                        assertThat(answer.statusCode()).isIn(200, 429);
                        busy += answer.statusCode() == 429 ? 1 : 0;
                        i += answer.statusCode() == 200 ? 1 : 0;
                    }
                    return busy;
                }));
            }
            for (Future<Integer> each : done) {
                each.get();
            }
            assertThat(on.lines.counts().accepted()).isEqualTo((long) clients * requests);
            assertThat(on.lines.acknowledged("s")).isEqualTo((long) clients * requests);
            assertThat(on.get("/v1/lines/totals?depth=0").body()).contains(clients * requests + ".00");
        }
    }

    @Test
    void what_watches_a_service_may_ask_for_the_head_alone() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            for (String path : List.of("/health/live", "/health/ready", "/openapi.json", "/")) {
                HttpResponse<String> head = on.send("HEAD", path, new byte[0]);
                HttpResponse<String> whole = on.get(path);
                assertThat(head.statusCode()).as(path).isEqualTo(200);
                assertThat(head.body()).as(path).isEmpty();
                assertThat(head.headers().firstValue("Content-Type"))
                        .isEqualTo(whole.headers().firstValue("Content-Type"));
            }
        }
    }

    @Test
    void a_batch_that_is_not_there_is_not_found_whatever_is_asked_of_it() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            for (String asked : List.of("/release", "/settle?how=delivered")) {
                HttpResponse<String> answer = on.post("/v1/bursts/batches/99" + asked, "");
                assertThat(answer.statusCode()).as(asked).isEqualTo(404);
                assertThat(answer.body()).contains("NO_BATCH");
            }
            assertThat(on.post("/v1/bursts/batches/x/release", "").statusCode()).isEqualTo(400);
        }
    }

    @Test
    void a_decision_about_a_batch_that_does_not_wait_for_it_is_a_conflict_that_names_its_state() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/bursts/records", "{\"id\":1}\n");
            assertThat(on.post("/v1/bursts/batches/seal", "").statusCode()).isEqualTo(200);
            for (String asked : List.of("/release", "/settle?how=discarded")) {
                HttpResponse<String> answer = on.post("/v1/bursts/batches/1" + asked, "");
                assertThat(answer.statusCode()).as(asked).isEqualTo(409);
                assertThat(answer.body()).contains("DECIDED", "Batch 000001 does not wait", "it is waiting");
            }
        }
    }

    @Test
    void more_lines_than_the_heap_allows_are_too_large_and_nothing_is_taken() throws Exception {
        try (RunningService on = new RunningService(directory);
                HttpService large = HttpService.open(
                        new Settings(
                                InetAddress.getLoopbackAddress(),
                                0,
                                null,
                                null,
                                new Settings.Limits(
                                        16 << 20, 64 << 20, 100, 4, java.time.Duration.ofSeconds(30), 1_000, 1_000)),
                        List.of(Served.of(on.trades, null)))) {
            long linesMax = Runtime.getRuntime().maxMemory() / 4 / 400;
            assumeTrue(linesMax < 8 << 20, "With so large a heap, no content has too many lines");
            HttpResponse<String> answer = on.post(large.uri() + "/v1/trades/records", "\n".repeat((int) linesMax));
            assertThat(answer.statusCode()).isEqualTo(413);
            assertThat(answer.body()).contains("heap allows", "several calls");
            assertThat(on.trades.counts().records()).isZero();
        }
    }
}
