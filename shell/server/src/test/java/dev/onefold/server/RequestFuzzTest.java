package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Requests that nobody would send: none fails for a reason of the service's, and none makes a total wrong.
@Timeout(300)
class RequestFuzzTest {
    private static final List<String> PARTS = words("""
            v1 trades lines bursts totals changes records rows keys tables dead-letters redrive purge batches list
            seal 1 2 -1 %00 %ff _ . .. %2e%2e verify rebuild checkpoint journal release settle change row-marks
            range-sums metrics health live ready status counts content record edited 99999999999999999999 openapi.json
            """);
    private static final List<String> ROUTES = words("""
            totals totals totals records records rows/1 keys/1 tables dead-letters dead-letters/1
            dead-letters/1/record dead-letters/1/edited dead-letters/1/redrive dead-letters/purge batches batches/list
            batches/1 batches/1/content batches/seal batches/1/release batches/1/settle verify rebuild checkpoint
            journal journal/release change row-marks range-sums status counts
            """);
    private static final List<String> NAMES = words("""
            source from group group-json depth top by format limit after id key table at-least sample
            edited how x rollup other-key neutralise-formulas bytes
            """);
    private static final List<String> VALUES = words("""
            _ 1 0 -1 a %00 % ["a"] [ true csv rows sources 9223372036854775807 2147483648 s:1 s:-1 :1 s: n value
            %ed%a0%80 %F0%9F%98%80 main delivered 1e9 +1 %2B1 \\u0661
            """);
    private static final List<String> FIELDS = List.of(
            "Idempotency-Key: a",
            "Idempotency-Key: " + "k".repeat(300),
            "Content-Encoding: gzip",
            "Content-Encoding: zstd",
            "Content-Encoding: identity, gzip",
            "Content-Type: text/csv",
            "Content-Type: ;;;",
            "Accept: application/openmetrics-text",
            "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
            "Accept: \u00ff",
            "If-None-Match: *",
            "If-None-Match: W/\"",
            "Last-Event-ID: \"\"",
            "Authorization: Bearer",
            "Origin: http://[",
            "Origin: http://localhost",
            "Expect: 100-continue",
            "Range: bytes=0-",
            "X: " + "y".repeat(5_000));
    private static final List<String> BODIES = List.of(
            "",
            "{}\n",
            record(1, "1"),
            record(2, "1e400"),
            "\0\0",
            "[",
            "\n\n\n",
            "\r\n",
            "{\"id\":1",
            "pipeline: x\n",
            "\ufeff" + record(3, "1"),
            "[".repeat(50_000),
            "{\"id\":\"" + "a".repeat(50_000) + "\"}\n",
            "{\"pipeline\":\"trades\",\"input\":{\"key\":\"id\"},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}");

    @TempDir
    Path directory;

    @Test
    void whatever_is_asked_the_service_does_not_fail() {
        ask(1, 1_500);
    }

    @Test
    @Tag("campaign")
    void forty_thousand_requests_of_any_kind_are_answered() {
        ask(8, 5_000);
    }

    private void ask(int seeds, int requests) {
        Seeds.forAllSeeds(seeds, random -> {
            try (RunningService on = new RunningService(Files.createTempDirectory(directory, "seed"))) {
                on.post("/v1/trades/records?source=s", record(0, "1"));
                on.post("/v1/lines/records?source=s", "no record\n");
                try (Connection connection = new Connection(on)) {
                    for (int i = 0; i < requests; i++) {
                        one(on, connection, random);
                    }
                }
                assertThat(on.get("/health/live").statusCode()).isEqualTo(200);
                assertThat(on.trades.verify().isEqual()).isTrue();
            }
        });
    }

    private static void one(RunningService on, Connection connection, RandomGenerator random) throws IOException {
        String request = request(random);
        if (random.nextInt(40) == 0) {
            byte[] damaged = request.getBytes(StandardCharsets.ISO_8859_1);
            for (int n = random.nextInt(4); n >= 0; n--) {
                damaged[random.nextInt(Math.min(damaged.length, 300))] = (byte) random.nextInt(256);
            }
            assertThat(on.raw(damaged)).as("damaged: " + shown(request)).matches("(?s)(HTTP/1.1 ([1234]|50[35]).*)?");
            return;
        }
        int status = connection.status(request);
        assertThat(status == 503 || status < 500)
                .as(status + " to " + shown(request))
                .isTrue();
    }

    private static String shown(String request) {
        return request.substring(0, Math.min(request.length(), 500));
    }

    private static String request(RandomGenerator random) {
        StringBuilder target = new StringBuilder();
        if (random.nextInt(3) > 0) {
            target.append("/v1/").append(any(List.of("trades", "lines", "bursts"), random));
            target.append('/').append(any(ROUTES, random));
        }
        for (int n = random.nextInt(3) - (target.isEmpty() ? 0 : 1); n > 0 || target.isEmpty(); n--) {
            target.append('/').append(any(PARTS, random));
        }
        for (int n = random.nextInt(4); n > 0; n--) {
            target.append(target.indexOf("?") < 0 ? '?' : '&')
                    .append(any(NAMES, random))
                    .append('=');
            target.append(random.nextInt(200) == 0 ? "%5B".repeat(15_000) : any(VALUES, random));
        }
        String method = any(List.of("GET", "GET", "GET", "POST", "POST", "POST", "PUT", "HEAD", "OPTIONS"), random);
        if (target.indexOf("/changes") > 0) {
            method = "POST"; // A stream would not end.
        }
        String body = method.equals("GET") && random.nextInt(10) > 0 ? "" : any(BODIES, random);
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n");
        for (int n = random.nextInt(3); n > 0; n--) {
            head.append(any(FIELDS, random)).append("\r\n");
        }
        return head + "Content-Length: " + bytes(body).length + "\r\n\r\n"
                + new String(bytes(body), StandardCharsets.ISO_8859_1);
    }

    /// A connection that is used again as long as the service lets it.
    private static final class Connection implements AutoCloseable {
        private final RunningService on;
        private Socket socket;
        private InputStream in;
        private String before = "";

        Connection(RunningService on) throws IOException {
            this.on = on;
            socket = on.connect();
            in = new BufferedInputStream(socket.getInputStream());
        }

        int status(String request) throws IOException {
            int status;
            try {
                status = ask(request);
            } catch (IOException closed) {
                open();
                status = ask(request);
            }
            before = request;
            return status;
        }

        private int ask(String request) throws IOException {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return answer(request.startsWith("HEAD"));
        }

        private void open() throws IOException {
            socket.close();
            socket = on.connect();
            in = new BufferedInputStream(socket.getInputStream());
        }

        private int answer(boolean isHead) throws IOException {
            String head = line();
            assertThat(head).as("behind the answer to " + shown(before)).startsWith("HTTP/1.1 ");
            int status = Integer.parseInt(head.split(" ", 3)[1]);
            long length = -1; // Up to the end of the connection.
            boolean isChunked = false;
            boolean isLast = false;
            for (String field = line(); !field.isEmpty(); field = line()) {
                String lower = field.toLowerCase(Locale.ROOT);
                length = lower.startsWith("content-length:")
                        ? Long.parseLong(lower.substring(15).strip())
                        : length;
                isChunked |= lower.equals("transfer-encoding: chunked");
                isLast |= lower.equals("connection: close");
            }
            if (status == 100) {
                return answer(isHead);
            }
            if (isChunked && !isHead) {
                for (int size = chunk(); size > 0; size = chunk()) {
                    in.skipNBytes(size);
                    line();
                }
                line();
            } else if (!isHead && status != 304) {
                in.skipNBytes(Math.max(length, 0));
            }
            isLast |= length < 0 && !isChunked;
            if (isLast) {
                open();
            }
            return status;
        }

        private int chunk() throws IOException {
            return Integer.parseInt(line(), 16);
        }

        private String line() throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int octet = in.read(); octet != '\n'; octet = in.read()) {
                if (octet < 0) {
                    throw new EOFException("The service has closed the connection");
                }
                line.write(octet);
            }
            return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /// Texts between blanks; `_` is an empty one.
    private static List<String> words(String text) {
        return Stream.of(text.strip().split("\\s+", -1))
                .map(word -> word.equals("_") ? "" : word)
                .toList();
    }

    private static String any(List<String> words, RandomGenerator random) {
        return words.get(random.nextInt(words.size()));
    }
}
