package dev.onefold.aws.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.aws.serve.ServedTrades.Answered;
import dev.onefold.aws.store.Store;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Whatever comes to a function URL is answered, and never by a failure of the function.
class UrlFuzzTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> WORDS = List.of(("totals changes rows keys tables status counts journal records"
                    + " dead-letters batches verify rebuild checkpoint range-sums row-marks v1 trades orders page"
                    + " openapi.json t1 % %2F %00 %zz .. \u00e4 \ud800 ? # + a%20b %ff \u0000 [1] main")
            .split(" ", -1));
    private static final List<String> NAMES = List.of(
            "rollup",
            "group",
            "group-json",
            "depth",
            "top",
            "by",
            "format",
            "limit",
            "skip",
            "at-least",
            "key",
            "table",
            "neutralise-formulas",
            "source",
            "from",
            "bytes",
            "x",
            "",
            "%");
    private static final List<String> VALUES = List.of(
            "1",
            "0",
            "-1",
            "value",
            "trades",
            "main",
            "csv",
            "json",
            "true",
            "desk-1",
            "[\"desk-1\"]",
            "[",
            "%",
            "%ff",
            "9223372036854775808",
            "2147483648",
            "\ud800",
            "\u0661",
            "",
            "a/b/c/d/e");
    private static final List<List<String>> HEADERS = List.of(
            List.of("accept-encoding", "gzip"),
            List.of("accept-encoding", ",;q=,gzip;q=0"),
            List.of("if-none-match", "*"),
            List.of("if-none-match", ",,W/"),
            List.of("content-encoding", "gzip"),
            List.of("content-encoding", "zstd"),
            List.of("content-type", ";;;"),
            List.of("content-type", "text/csv"),
            List.of("authorization", "Bearer a.b.c"),
            List.of("Authorization", ""),
            List.of("idempotency-key", "k"));
    private static final List<String> BODIES = List.of(
            "",
            "{}\n",
            "{\"id\":\"f\",\"v\":1}\n",
            "\u0000",
            "[",
            "\r\n\n",
            "\ud800",
            "H4sIAAAAAAAA",
            "a".repeat(70_000));

    private static <T> T one(List<T> of, RandomGenerator random) {
        return of.get(random.nextInt(of.size()));
    }

    private static byte[] event(RandomGenerator random) throws IOException {
        StringBuilder target = new StringBuilder(random.nextInt(5) > 0 ? "/v1/trades" : "");
        for (int parts = random.nextInt(4); parts > 0; parts--) {
            target.append('/').append(one(WORDS, random));
        }
        target.append('?');
        for (int parameters = random.nextInt(4); parameters > 0; parameters--) {
            target.append(one(NAMES, random))
                    .append('=')
                    .append(one(VALUES, random))
                    .append('&');
        }
        ObjectNode event = ServedTrades.event(
                one(List.of("GET", "GET", "POST", "PUT", "HEAD", "get", ""), random), target.toString());
        for (int headers = random.nextInt(3); headers > 0; headers--) {
            List<String> header = one(HEADERS, random);
            ServedTrades.with(event, header.get(0), header.get(1));
        }
        if (random.nextInt(2) == 0) {
            event.put("body", one(BODIES, random)).put("isBase64Encoded", random.nextInt(4) == 0);
        }
        if (random.nextInt(30) == 0) {
            event.set(one(List.of("headers", "requestContext", "rawPath", "body"), random), JSON.readTree("[null,1]"));
        }
        byte[] bytes = JSON.writeValueAsBytes(event);
        if (random.nextInt(20) == 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        return bytes;
    }

    private static void ask(Store store, int seeds, int requests) {
        Seeds.forAllSeeds(seeds, random -> {
            ServedTrades served = ServedTrades.writing(store, new Access.Signed());
            for (int i = 0; i < requests; i++) {
                byte[] event = event(random);
                Answered answered = served.send(event);
                assertThat(answered.status())
                        .as(new String(event, StandardCharsets.UTF_8))
                        .isBetween(200, 499);
                assertThat(answered.body()).doesNotContain("secret payload");
            }
        });
    }

    @Test
    void hazard_90_whatever_is_asked_the_function_answers_and_shows_no_record() {
        ask(ServedTrades.store("fuzz"), 1, 700);
    }

    @Test
    @Tag("campaign")
    void twenty_thousand_requests_of_any_kind_are_answered() {
        ask(ServedTrades.store("fuzz-more"), 10, 2_000);
    }
}
