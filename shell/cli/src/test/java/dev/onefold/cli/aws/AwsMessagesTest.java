package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AwsMessagesTest {
    @TempDir
    Path folder;

    @Test
    void verbs_of_streams_and_totals_refuse_batches_before_they_ask_aws() throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("orders.yaml", """
                pipeline: orders
                input: {format: json, id: id}
                batch:
                  size: 10
                  deliver: {http: "http://host/x"}
                  receiver: idempotent
                """);
        for (String[] arguments : List.of(
                new String[] {"aws", "produce", "orders.yaml"},
                new String[] {"aws", "replay", "orders.yaml", "--from", "2026-11-21T08:00:00Z"},
                new String[] {"aws", "restored", "orders.yaml"},
                new String[] {"aws", "query", "orders.yaml"},
                new String[] {"aws", "verify", "orders.yaml"})) {
            Result result = cli.run(arguments);
            assertThat(result.exitCode()).as(result.err()).isEqualTo(1);
            assertThat(result.out()).isEmpty();
            assertThat(result.err())
                    .contains("Pipeline orders makes batches, and this is for pipelines with totals or tables.");
        }
    }

    @Test
    void an_endpoint_at_which_nothing_listens_is_said_at_once() throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("orders.yaml", """
                pipeline: orders
                input: {format: json, id: id}
                batch:
                  size: 10
                  deliver: {http: "http://host/x"}
                  receiver: idempotent
                """);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Result result = cli.run(
                "aws",
                "batches",
                "orders.yaml",
                "list",
                "--region",
                "eu-west-1",
                "--endpoint",
                "http://localhost:" + port);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
        assertThat(result.err()).contains("Nothing can be reached at http://localhost:" + port, "Correct the address");
    }

    @ParameterizedTest
    @ValueSource(strings = {"aws.endpointUrl", "aws.endpointUrlDynamoDb"})
    void an_endpoint_of_the_environment_at_which_nothing_listens_is_said_at_once(String setting) throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        System.setProperty(setting, "http://localhost:" + port); // As the variable AWS_ENDPOINT_URL of a process.
        try {
            Result result = cli.run("aws", "query", "trades.yaml", "--region", "eu-west-1");
            assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
            assertThat(result.err())
                    .contains("Nothing can be reached at http://localhost:" + port, "Correct the address");
        } finally {
            System.clearProperty(setting);
        }
    }

    @Test
    void an_address_without_a_scheme_or_with_a_port_that_there_is_not_is_a_usage_error() {
        for (String wrong : List.of(
                "nonsense", "localhost:8000", "ftp://host/x", "http://", "http://localhost:99999", "http://host:0")) {
            Result result = Cli.in(folder).run("aws", "query", "trades.yaml", "--endpoint", wrong);
            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.err()).contains("'" + wrong + "' is no address such as http://localhost:8000");
        }
    }

    @Test
    void records_are_put_nowhere_if_nothing_listens() throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("rows.ndjson", Cli.trade("t1", 1, "FX", "EMEA", "1.50"));
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Result result = cli.run(
                "aws",
                "produce",
                "trades.yaml",
                "rows.ndjson",
                "--region",
                "eu-west-1",
                "--kinesis-endpoint",
                "http://localhost:" + port);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
        assertThat(result.err()).contains("Nothing can be reached at http://localhost:" + port);
    }
}
