package dev.onefold.aws.serve;

import static dev.onefold.aws.serve.ServedTrades.body;
import static dev.onefold.aws.serve.ServedTrades.event;
import static dev.onefold.aws.serve.ServedTrades.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.serve.ServedTrades.Answered;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/// Records that a function puts into the stream. None of these needs a table.
class ServedRecordsTest {
    private static final String RECORDS = "/v1/trades/records";

    private final ServedTrades served =
            ServedTrades.writing(ServedTrades.empty("serving-records"), new Access.Signed());

    ServedRecordsTest() throws IOException {}

    private static String lines(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(i -> "{\"id\":\"r%d\",\"v\":1,\"desk\":\"d\",\"value\":1}%n".formatted(i))
                .collect(Collectors.joining());
    }

    @Test
    void hazard_85_the_answer_comes_when_the_stream_has_every_line() throws IOException {
        Answered answered = served.post(lines(1_200));
        assertThat(answered.status()).isEqualTo(202);
        assertThat(answered.body()).isEqualTo("{\"put\":1200}\n");
        assertThat(String.join("\n", served.puts.taken.stream().sorted().toList()) + "\n")
                .isEqualTo(lines(1_200).lines().sorted().collect(Collectors.joining("\n")) + "\n");
    }

    @Test
    void a_line_that_is_no_event_is_put_too_and_becomes_a_dead_letter_there() throws IOException {
        assertThat(served.post("no event\n{\"v\":1}\n").body()).isEqualTo("{\"put\":2}\n");
        assertThat(served.puts.taken).containsExactlyInAnyOrder("no event", "{\"v\":1}");
    }

    @Test
    void hazard_84_lines_that_the_stream_does_not_take_in_time_are_named_and_may_be_sent_again() throws IOException {
        served.most = Duration.ofMillis(200);
        served.puts.refusedWord = "r2";
        Answered answered = served.post(lines(30));
        assertThat(answered.status()).isEqualTo(503);
        assertThat(answered.kind()).isEqualTo("NOT_PUT");
        assertThat(answered.json().path("put").asInt()).isEqualTo(19);
        assertThat(answered.json().path("notPut").toString()).isEqualTo("[[2,2],[20,29]]");
        assertThat(answered.body()).contains("Send those again, or all").doesNotContain("desk");
        served.puts.refusedWord = "\0";
        served.most = Duration.ofSeconds(20);
        assertThat(served.post(lines(30)).body()).isEqualTo("{\"put\":30}\n");
    }

    @Test
    void a_line_that_the_stream_can_never_take_is_named_and_the_others_are_in() throws IOException {
        String large = "{\"id\":\"large\",\"v\":1,\"x\":\"" + "a".repeat(3 << 20) + "\"}\n";
        Answered answered = served.post(lines(2) + large + lines(1));
        assertThat(answered.status()).isEqualTo(422);
        assertThat(answered.json().path("refused").toString()).isEqualTo("[[3,3]]");
        assertThat(answered.json().path("put").asInt()).isEqualTo(3);
    }

    @Test
    void an_object_over_several_lines_is_one_record_if_the_content_says_to_be_json() throws IOException {
        byte[] hook =
                "{\n\"id\":\"r1\",\n\"v\":1,\"lines\":[\n{\"id\":\"r2\",\"v\":1}\n]}".getBytes(StandardCharsets.UTF_8);
        Answered answered = served.send(with(body(event("POST", RECORDS), hook), "content-type", "application/json"));
        assertThat(answered.body()).isEqualTo("{\"put\":1}\n");
        answered = served.send(body(event("POST", RECORDS), hook));
        assertThat(answered.status()).isEqualTo(400);
        assertThat(answered.body()).contains("Send it with Content-Type: application/json");
        assertThat(served.puts.taken).hasSize(1);
    }

    @Test
    void contents_are_taken_compressed_and_in_base64() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(lines(3).getBytes(StandardCharsets.UTF_8));
        }
        Answered answered =
                served.send(with(body(event("POST", RECORDS), packed.toByteArray()), "content-encoding", "gzip"));
        assertThat(answered.body()).isEqualTo("{\"put\":3}\n");
        byte[] cut = Arrays.copyOf(packed.toByteArray(), packed.size() - 1);
        assertThat(served.send(with(body(event("POST", RECORDS), cut), "content-encoding", "gzip"))
                        .status())
                .isEqualTo(400);
        assertThat(served.puts.taken).hasSize(3);
    }

    @Test
    void hazard_87_a_bomb_is_refused_before_anything_is_put() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(new byte[20 << 20]);
        }
        assertThat(served.send(with(body(event("POST", RECORDS), packed.toByteArray()), "content-encoding", "gzip"))
                        .status())
                .isEqualTo(413);
        assertThat(served.puts.taken).isEmpty();
    }

    @Test
    void what_is_not_taken_as_on_one_machine_is_refused_with_the_reason() throws IOException {
        assertThat(served.send(with(event("POST", RECORDS).put("body", "{}"), "idempotency-key", "k"))
                        .body())
                .contains("remembers no idempotency keys");
        assertThat(served.send(event("POST", RECORDS + "?source=s&from=1").put("body", "{}"))
                        .body())
                .contains("here the stream gives places");
        assertThat(served.send(with(event("POST", RECORDS).put("body", "a,b"), "content-type", "text/csv"))
                        .status())
                .isEqualTo(415);
        assertThat(served.send(with(event("POST", RECORDS).put("body", "x"), "content-encoding", "zstd"))
                        .status())
                .isEqualTo(415);
        assertThat(served.send(body(event("POST", RECORDS), new byte[] {'{', (byte) 0xff, '}'}))
                        .body())
                .contains("not UTF-8");
        assertThat(served.send(event("POST", RECORDS).put("body", "%").put("isBase64Encoded", true))
                        .status())
                .isEqualTo(400);
        assertThat(served.puts.taken).isEmpty();
    }
}
