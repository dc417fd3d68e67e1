package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunBatchesTest {
    /// For a part of a host's name: no name service is asked.
    private static final String TOO_LONG = "a123456789a123456789a123456789a123456789a123456789a123456789a123";

    @TempDir
    private Path folder;

    private Cli.Result run(String retry) {
        Cli cli = Cli.in(folder);
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 2
                  wait: 1h
                  deliver: {file: "missing/b-{number}.ndjson"}
                  retry: %s
                """.formatted(retry));
        cli.write("in.ndjson", "{\"id\":1}\n{\"id\":2}\n");
        return cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson");
    }

    @Test
    @Tag("campaign")
    void why_a_batch_is_not_delivered_is_said_while_it_is_tried() {
        Cli.Result result = run("{delays: [2s], for: 3s}");
        assertThat(result.err())
                .contains("Batch 000001 is not delivered yet: There is no folder ", "It is tried again at ");
        assertThat(result.out())
                .contains(
                        "Delivered 0 batches; in all 0 of 1, 1 not delivered, 1 of them for a person to decide: see 'onefold batches b --data data list'.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "file: 'missing/b-{number}.ndjson'|There is no folder",
                "command: [no-such-program]|there is no program no-such-program that may be run",
                "command: [./no-such-program]|there is no program ./no-such-program that may be run",
                "http: 'http://" + TOO_LONG + ".invalid/', receiver: idempotent|The host " + TOO_LONG
                        + ".invalid is not known",
                "jdbc: 'jdbc:none:x', insert: 'insert into b (id) values (:id)'|No driver knows the database"
            })
    void hazard_76_what_is_wrong_with_a_receiver_is_said_at_the_start_and_records_are_taken(String to, String trouble) {
        Cli cli = Cli.in(folder);
        boolean isIdempotent = to.contains("receiver");
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 2
                  retry: none
                  %s
                  deliver: {%s}
                """.formatted(
                        isIdempotent ? "receiver: idempotent" : to.startsWith("command") ? "receiver: once" : "",
                        to.replace(", receiver: idempotent", "")));
        cli.write("in.ndjson", "");
        Cli.Result result = cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson");
        assertThat(result.err())
                .contains("The receiver cannot take batches now: ")
                .contains(trouble);
        assertThat(result.exitCode()).as(result.err()).isZero();
    }

    @Test
    void a_batch_that_waits_for_its_next_try_is_released_by_a_person() throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 1
                  deliver: {file: "missing/b-{number}.ndjson"}
                  retry: {delays: [10h], for: 2d}
                """);
        cli.write("in.ndjson", "{\"id\":1}\n");
        try (OnefoldProcess run =
                OnefoldProcess.start(folder, "run", "b.yaml", "--data", "data", "--input", "in.ndjson")) {
            OnefoldProcess.await("the batch waits", () -> run.err().contains("It is tried again at "));
            assertThat(cli.run("batches", "b.yaml", "--data", "data", "release", "1", "--discard")
                            .err())
                    .contains("Batch 000001 does not wait for a person: it is waiting.");
            Files.createDirectory(folder.resolve("missing"));
            assertThat(cli.run("batches", "b.yaml", "--data", "data", "release", "1")
                            .out())
                    .startsWith("Batch 000001 is delivered again");
            assertThat(run.exitCode()).isZero();
        }
        assertThat(folder.resolve("missing/b-000001.ndjson")).hasContent("{\"id\":1}");
    }

    @Test
    void that_a_batch_waits_for_a_person_is_said_with_its_reason() {
        assertThat(run("none").err())
                .contains("Batch 000001 is put aside: ")
                .contains("1 batch waits for a person: see 'onefold batches b --data data list'.");
    }

    @Test
    void a_pipeline_with_batches_has_no_totals_and_says_where_its_batches_are() {
        run("none");
        Cli.Result result = Cli.in(folder).run("query", "b.yaml", "--data", "data");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("The pipeline makes batches, and no totals. See 'onefold batches b list'.");
    }

    @Test
    void without_input_a_pipeline_delivers_the_batches_that_it_has() {
        run("none");
        Cli cli = Cli.in(folder);
        assertThat(cli.run("run", "b.yaml", "--data", "other").err()).contains("What to fold is missing");
        assertThat(folder.resolve("other")).doesNotExist();
        assertThat(folder.resolve("missing").toFile().mkdir()).isTrue();
        cli.run("batches", "b.yaml", "--data", "data", "redeliver", "1");
        assertThat(cli.run("run", "b.yaml", "--data", "data").out()).contains("Delivered 1 batch; in all 1 of 1.");
        assertThat(folder.resolve("missing/b-000001.ndjson")).hasContent("{\"id\":1}\n{\"id\":2}\n");
    }

    @Test
    void a_limit_out_of_its_range_is_refused() {
        run("none");
        assertThat(Cli.in(folder)
                        .run("batches", "b.yaml", "--data", "data", "list", "--limit", "0")
                        .err())
                .contains("--limit is 1 to 1,000");
    }

    @Test
    void a_run_whose_first_batch_holds_up_the_others_ends_and_may_say_so_by_its_exit_code() {
        Cli cli = Cli.in(folder);
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 1
                  order: strict
                  receiver: idempotent
                  deliver: {command: [sh, -c, "cat > /dev/null; [ $ONEFOLD_NUMBER != 000002 ]"]}
                """);
        cli.write("in.ndjson", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
        Cli.Result result = cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson", "--fail-on-undelivered");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("Batch 000002 and what waits for a person hold up later ones.");
        assertThat(result.out()).contains("Delivered 1 batch; in all 1 of 3, 2 not delivered, 1 of them for a person");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sftp: 'sftp://me@host/b-{number}.ndjson', known-hosts: none|There is no file",
                "lambda: load, receiver: once|Lambda function load on AWS only",
                "s3: 's3://bucket/b-{number}.ndjson', endpoint: 'minio:9000', region: x|is not an address: minio:9000"
            })
    void a_receiver_that_cannot_be_had_is_refused_before_a_data_directory_is_made(String deliver, String reason) {
        Cli cli = Cli.in(folder);
        boolean isOnce = deliver.contains("receiver");
        cli.write(
                "b.yaml",
                "pipeline: b\ninput: {format: json, id: id}\nbatch:\n  size: 2\n  deliver: {"
                        + deliver.replace(", receiver: once", "") + "}\n" + (isOnce ? "  receiver: once\n" : ""));
        cli.write("in.ndjson", "{\"id\":1}\n");
        Cli.Result result = cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(reason);
        assertThat(folder.resolve("data")).doesNotExist();
    }

    @Test
    void what_cannot_change_once_something_is_sealed_is_named() {
        run("none");
        Cli cli = Cli.in(folder);
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch: {size: 2, compare: none, deliver: {file: "b-{number}.ndjson"}}
                """);
        assertThat(cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson")
                        .err())
                .contains("what is sealed cannot be sealed again, and 'compare' has changed. The old definition");
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                rollup: {levels: [id], measures: {n: count()}}
                """);
        assertThat(cli.run("run", "b.yaml", "--data", "data", "--input", "in.ndjson")
                        .err())
                .contains("and the pipeline would make no batches any more. The old definition");
    }
}
