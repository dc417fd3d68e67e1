package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.load.Pace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Over HTTP, with the client that users have.
class ProduceCommandTest {
    @TempDir
    Path folder;

    private HttpKinesis kinesis;
    private Cli cli;

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "local");
        System.setProperty("aws.secretAccessKey", "local");
        System.setProperty("aws.cborEnabled", "false");
        kinesis = new HttpKinesis("test-input");
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
    }

    @AfterEach
    void stop() {
        kinesis.close();
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
        System.clearProperty("aws.cborEnabled");
    }

    private List<String> arguments(String... more) {
        List<String> all = new ArrayList<>(List.of("aws", "produce", "trades.yaml"));
        all.addAll(List.of(more));
        all.addAll(List.of("--deployment", "test", "--region", "eu-central-1"));
        return all;
    }

    private Result produce(String input, String... more) {
        List<String> all = arguments(more);
        all.addAll(List.of("--kinesis-endpoint", String.valueOf(kinesis.endpoint())));
        return cli.runWithInput(input, all.toArray(new String[0]));
    }

    private static String trades(int from, int to) {
        StringBuilder lines = new StringBuilder();
        for (int i = from; i < to; i++) {
            lines.append(Cli.trade("t" + i, 1, "FX", "EMEA", "1"));
        }
        return lines.toString();
    }

    @Test
    void every_line_of_standard_input_is_a_record_under_the_key_of_its_event() throws IOException {
        String a = Cli.trade("a", 1, "FX", "EMEA", "1").strip();
        String b = Cli.trade("b", 1, "FX", "EMEA", "1").strip();
        Result result = produce(a + "\r\n\npoison\n" + b);
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(kinesis.texts())
                .hasSize(4)
                .contains("a " + a, "b " + b)
                .anyMatch(text -> text.matches("[0-9a-f]{64} poison"))
                .anyMatch(text -> text.matches("[0-9a-f]{64} "));
        assertThat(result.out()).contains("Put 4 records, ", "into test-input", "0 entries sent again");
    }

    @Test
    void a_producer_needs_no_function() throws IOException {
        cli.write("trades.yaml", """
                pipeline: trades
                input: {key: id, version: v}
                process: {class: com.example.Elsewhere, jar: elsewhere.jar, order: latest, tables: {totals: id}}
                """);
        String trade = Cli.trade("a", 1, "FX", "EMEA", "1").strip();
        Result result = produce(trade);
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(kinesis.texts()).containsExactly("a " + trade);
    }

    @Test
    void files_are_put_one_after_the_other_decompressed_and_from_a_line_on() throws IOException {
        cli.write("one.ndjson", trades(0, 2_000));
        try (GZIPOutputStream gzip = new GZIPOutputStream(Files.newOutputStream(folder.resolve("two.ndjson.gz")))) {
            gzip.write(trades(2_000, 2_500).getBytes(StandardCharsets.UTF_8));
        }
        Result result = produce("", "one.ndjson", "two.ndjson.gz", "--from", "1001", "--rate", "1000000");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("Put 1,500 records");
        assertThat(kinesis.texts()).hasSize(1_500).doesNotHaveDuplicates();
        assertThat(kinesis.texts().stream().map(text -> text.substring(0, text.indexOf(' '))))
                .contains("t1000", "t2499")
                .doesNotContain("t999");
    }

    @Test
    void a_line_over_10_mib_is_refused_with_its_place_and_the_others_are_put() throws IOException {
        byte[] large = new byte[10 * 1024 * 1024 + 1];
        Arrays.fill(large, (byte) 'x');
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        lines.writeBytes(trades(0, 1).getBytes(StandardCharsets.UTF_8));
        lines.writeBytes(large);
        lines.writeBytes(("\n" + trades(1, 2)).getBytes(StandardCharsets.UTF_8));
        Files.write(folder.resolve("large.ndjson"), lines.toByteArray());
        Result result = produce("", "large.ndjson");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("Not put: line 2 of large.ndjson: it has 10485761 bytes");
        assertThat(result.out()).contains("Put 2 records", "1 record could not be put");
        assertThat(kinesis.texts()).hasSize(2);
    }

    @Test
    void when_the_stream_takes_no_more_it_says_where_to_go_on() {
        Result result = produce(trades(0, 3), "--stream", "nobody-made-it");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains("Stream nobody-made-it takes no more: Stream not found", "line 1 of standard input")
                .contains("Say which stream it is with --stream")
                .doesNotContain("\tat ");
    }

    @Test
    void a_line_to_begin_with_that_there_is_not_is_refused() {
        Result result = produce(trades(0, 3), "--from", "5");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--from 5 lies behind the last line");
        assertThat(produce("", "--from", "0").exitCode()).isEqualTo(2);
        assertThat(produce("", "--rate", "-1").exitCode()).isEqualTo(2);
        assertThat(produce("", "-", "more.ndjson").err()).contains("Standard input (-) comes last");
    }

    @Test
    void a_stop_ends_it_though_the_stream_never_answers() throws Exception {
        cli.write("one.ndjson", trades(0, 12));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Caller caller = cli.caller(InputStream.nullInputStream(), out, out);
        StopRequest stop = new StopRequest();
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                KinesisAsyncClient client = Connection.kinesis(new Connection.Place(
                        "eu-central-1", null, URI.create("http://127.0.0.1:" + silent.getLocalPort())))) {
            Thread.startVirtualThread(() -> {
                try (Socket _ = silent.accept()) {
                    stop.make(ExitCode.INTERRUPTED);
                    silent.accept(); // The first one stays open as long as the server is.
                } catch (IOException e) {
                    // The test is over.
                }
            });
            Production production = new Production(
                    caller,
                    client,
                    "s",
                    PipelineArgument.read(caller, "trades.yaml"),
                    new Production.Limits(new Pace(0, 0), stop, Duration.ofMillis(50)));
            assertThatThrownBy(() -> production.run(List.of("one.ndjson"), 1))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageMatching(
                            "(?s)Stream s takes no more: the command was stopped, and .* All before line 1 of"
                                    + " one.ndjson are: go on from there with --from.*")
                    .extracting(failure -> ((CommandFailure) failure).exitCode())
                    .isEqualTo(ExitCode.INTERRUPTED);
        }
    }

    @Test
    @Tag("campaign")
    void the_endpoint_may_stand_in_the_environment_as_for_every_tool() throws Exception {
        cli.write("one.ndjson", trades(0, 5));
        Map<String, String> variables = Map.of(
                "AWS_ENDPOINT_URL_KINESIS", String.valueOf(kinesis.endpoint()),
                "AWS_ACCESS_KEY_ID", "local",
                "AWS_SECRET_ACCESS_KEY", "local",
                "JAVA_TOOL_OPTIONS", "-Daws.cborEnabled=false");
        try (OnefoldProcess process =
                OnefoldProcess.start(folder, variables, arguments("one.ndjson").toArray(new String[0]))) {
            assertThat(process.exitCode()).as(process.err()).isZero();
        }
        assertThat(kinesis.texts()).hasSize(5);
    }
}
