package dev.onefold.aws.serve;

import static dev.onefold.aws.serve.ServedTrades.event;
import static dev.onefold.aws.serve.ServedTrades.unsigned;
import static dev.onefold.aws.serve.ServedTrades.with;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.serve.ServedTrades.Answered;
import dev.onefold.aws.store.Store;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// What a function URL answers to callers that AWS has checked.
class UrlHandlerTest {
    private static Store store;

    @BeforeAll
    static void fill() {
        store = ServedTrades.store("serving");
    }

    private static ServedTrades reading() throws IOException {
        return ServedTrades.reading(store);
    }

    @Test
    void totals_are_answered_as_one_cut_in_json_and_csv() throws IOException {
        Answered json = reading().get("/v1/trades/totals?depth=1");
        assertThat(json.status()).isEqualTo(200);
        assertThat(json.headers()).containsEntry("Content-Type", "application/json");
        assertThat(json.json().path("groups")).hasSize(4);
        assertThat(json.json().at("/groups/0/values/value").asText()).isEqualTo("472.5");
        Answered csv = reading().get("/v1/trades/totals?format=csv&group=desk-1");
        assertThat(csv.headers()).containsEntry("Content-Type", "text/csv; charset=utf-8");
        assertThat(csv.body()).contains("desk-1,book 1");
    }

    @Test
    void what_watches_the_page_may_ask_for_its_head_alone() throws IOException {
        for (String path : List.of("/", "/openapi.json")) {
            Answered head = reading().send(event("HEAD", path));
            Answered whole = reading().get(path);
            assertThat(head.status()).as(path).isEqualTo(200);
            assertThat(head.body()).isEmpty();
            assertThat(whole.body()).isNotEmpty();
            assertThat(head.headers()).isEqualTo(whole.headers());
        }
    }

    @Test
    void a_level_is_answered_in_pages() throws IOException {
        Answered page = reading().get("/v1/trades/totals?by=value&limit=1&skip=1");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.json().path("below").asInt()).isEqualTo(3);
        assertThat(page.json().path("groups")).hasSize(2);
    }

    @Test
    void rows_are_answered_with_their_letters_and_names_are_decoded_once() throws IOException {
        assertThat(reading().get("/v1/trades/rows/t7").json().path("version").asText())
                .isEqualTo("1");
        assertThat(reading().get("/v1/trades/rows/t%3837").kind()).isEqualTo("NO_ROW");
        assertThat(reading().get("/v1/trades/rows/t%37").status()).isEqualTo(200);
        assertThat(reading().get("/v1/trades/totals?group=desk-1/book+1").status())
                .isEqualTo(200);
        assertThat(reading().get("/v1/trades/rows/\u00e4").status()).isEqualTo(404);
    }

    @Test
    void the_same_cut_is_not_sent_twice() throws IOException {
        Answered first = reading().get("/v1/trades/totals");
        Answered second = reading()
                .send(with(
                        event("GET", "/v1/trades/totals"),
                        "if-none-match",
                        first.headers().get("ETag")));
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.body()).isEmpty();
        assertThat(second.headers()).containsEntry("Vary", first.headers().get("Vary"));
    }

    @Test
    void an_answer_is_compressed_where_the_caller_takes_it() throws IOException {
        Answered packed =
                reading().send(with(event("GET", "/v1/trades/totals?format=csv"), "accept-encoding", "br, gzip;q=0.5"));
        assertThat(packed.headers()).containsEntry("Content-Encoding", "gzip");
        assertThat(packed.body())
                .isEqualTo(reading().get("/v1/trades/totals?format=csv").body());
        assertThat(reading()
                        .send(with(event("GET", "/v1"), "accept-encoding", "gzip;q=0, br"))
                        .headers())
                .doesNotContainKey("Content-Encoding");
    }

    @Test
    void an_answer_that_does_not_fit_says_how_to_ask_for_it_in_pages() throws IOException {
        Answered refused = ServedTrades.small(store, 300).get("/v1/trades/totals");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.kind()).isEqualTo("TOO_LARGE");
        assertThat(refused.body()).contains("'limit' and 'skip'", "300 bytes");
        assertThat(ServedTrades.small(store, 300)
                        .get("/v1/trades/totals?format=csv")
                        .kind())
                .isEqualTo("TOO_LARGE");
    }

    @Test
    void a_request_that_aws_has_not_checked_is_refused_whatever_it_asks() throws IOException {
        for (String path : List.of("/", "/openapi.json", "/v1", "/v1/trades/totals", "/nowhere")) {
            Answered refused = reading().send(unsigned("GET", path));
            assertThat(refused.status()).as(path).isEqualTo(403);
            assertThat(refused.body()).contains("is not signed");
        }
    }

    @Test
    void changes_say_to_ask_again_and_when() throws IOException {
        Answered poll = reading().get("/v1/trades/changes?depth=1");
        assertThat(poll.status()).isEqualTo(406); // No 5xx, which raises an alarm.
        assertThat(poll.kind()).isEqualTo("NO_STREAM");
        assertThat(poll.headers()).containsEntry("Retry-After", "5");
    }

    @Test
    void what_only_a_service_on_one_machine_does_is_refused_with_the_reason() throws IOException {
        assertThat(reading().get("/v1/trades/dead-letters").body()).contains("onefold aws dead-letters");
        assertThat(reading().send(event("POST", "/v1/trades/verify")).status()).isEqualTo(403);
        assertThat(reading().get("/v1/trades/totals?at-least=s:5").body()).contains("have no such numbers");
        assertThat(reading().get("/v1/trades/status").body()).contains("CloudWatch");
        assertThat(reading().get("/metrics").status()).isEqualTo(404);
        assertThat(reading().send(event("PUT", "/v1/trades/totals")).status()).isEqualTo(405);
        assertThat(reading().send(event("POST", "/v1")).status()).isEqualTo(405);
        assertThat(reading().post("{}").body()).contains("served for reading", "--serve write");
    }

    @Test
    void the_page_is_sent_with_its_policy_and_its_files() throws IOException {
        Answered page = reading().get("/");
        assertThat(page.headers()).containsKey("Content-Security-Policy");
        String script = page.body().replaceFirst("(?s).*src=\"(page/[^\"]*app.js)\".*", "$1");
        assertThat(reading().get("/" + script).headers())
                .containsEntry("Content-Type", "text/javascript; charset=utf-8");
    }

    @Test
    void a_deployment_without_a_record_says_so() throws IOException {
        Answered early =
                ServedTrades.reading(ServedTrades.empty("serving-empty")).get("/v1/trades/totals");
        assertThat(early.status()).isEqualTo(503);
        assertThat(early.kind()).isEqualTo("NOT_YET");
    }

    @Test
    void each_operation_of_the_description_is_a_route() throws IOException {
        JsonNode paths = new ObjectMapper()
                .readTree(reading().get("/openapi.json").body())
                .path("paths");
        assertThat(paths).hasSize(11);
        for (var path : paths.properties()) {
            String target = path.getKey().replace("{pipeline}", "trades").replace("{key}", "t1");
            path.getValue().fieldNames().forEachRemaining(method -> {
                if (!method.equals("parameters")) {
                    assertThat(status(method, target)).as(method + " " + target).isLessThan(405);
                }
            });
        }
    }

    /// A table of a function, which this pipeline has none of, is a bad request.
    private static int status(String method, String target) {
        try {
            int status = ServedTrades.writing(store, new Access.Signed())
                    .send(event(method.toUpperCase(Locale.ROOT), target))
                    .status();
            return status == 404 ? 1_000 : status;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
