package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `--serve` adds, and where it is refused.
class TemplateCommandTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
    }

    @Test
    void the_service_is_there_if_it_is_asked_for() {
        assertThat(cli.run("aws", "template", "trades.yaml").out()).doesNotContain("ServeUrl");
        Result read = cli.run("aws", "template", "trades.yaml", "--serve", "read");
        assertThat(read.exitCode()).as(read.err()).isZero();
        assertThat(read.out()).contains("ServeUrl", "AuthType").doesNotContain("kinesis:PutRecords");
        assertThat(read.err()).isEmpty();
        assertThat(cli.run("aws", "template", "trades.yaml", "--serve", "write").out())
                .contains("kinesis:PutRecords");
    }

    @Test
    void another_word_is_refused_with_those_that_there_are() {
        Result refused = cli.run("aws", "template", "trades.yaml", "--serve", "all");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("all", "read", "write").doesNotContain("\tat ");
    }

    @Test
    void batches_are_served_and_take_records_through_their_queue() {
        cli.write("orders.yaml", """
                pipeline: orders
                input: {id: id}
                batch:
                  size: 10
                  deliver: {http: "https://example.com/in"}
                  receiver: idempotent
                """);
        Result served = cli.run("aws", "template", "orders.yaml", "--serve", "write");
        assertThat(served.exitCode()).isZero();
        assertThat(served.out()).contains("ServeUrl:", "ONEFOLD_SERVE_QUEUE: !Ref InputQueue");
    }

    @Test
    void a_template_that_only_a_bucket_can_hold_says_so() {
        cli.write("stars.yaml", """
                pipeline: stars
                input: {format: dynamodb-stream, key: id}
                rollup: {levels: [item], measures: {n: count()}}
                publish: {table: star-counts}
                """);
        Result result = cli.run("aws", "template", "stars.yaml", "--input", "table", "--serve", "read");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("--s3-bucket");
    }
}
