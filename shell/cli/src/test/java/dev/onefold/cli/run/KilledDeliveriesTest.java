package dev.onefold.cli.run;

import static dev.onefold.cli.OnefoldProcess.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes that deliver, and real commands that receive, really killed.
class KilledDeliveriesTest {
    /// Notes its process, waits for the file `go`, and then keeps what it got under the batch's id.
    private static final String RECEIVER = """
            cat > got.part.$$
            echo $$ > pid.new && mv pid.new pid
            while [ ! -e go ]; do sleep 0.05; done
            cat got.part.$$ >> effects
            mv got.part.$$ got-$ONEFOLD_BATCH
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("take.sh", RECEIVER);
        cli.write(
                "in.ndjson",
                IntStream.range(0, 20).mapToObj(id -> "{\"id\":" + id + "}\n").collect(Collectors.joining()));
    }

    private void pipeline(String receiver) {
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 10
                  order: strict
                  deliver: {command: [sh, take.sh]}
                  receiver: %s
                  retry: {delays: [1s], for: 1h}
                """.formatted(receiver));
    }

    private OnefoldProcess start() throws IOException {
        return OnefoldProcess.start(folder, "run", "b.yaml", "--input", "in.ndjson");
    }

    private void awaitReceiver() {
        await("the receiver has begun", () -> Files.exists(folder.resolve("pid")));
    }

    private void go() {
        cli.write("go", "");
    }

    private void killReceiver() throws IOException, InterruptedException {
        Path pid = folder.resolve("pid");
        new ProcessBuilder("kill", "-9", Files.readString(pid).strip()).start().waitFor();
        Files.deleteIfExists(pid);
    }

    private List<String> effects() throws IOException {
        return Files.readAllLines(folder.resolve("effects"));
    }

    private static List<String> all() {
        return IntStream.range(0, 20).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    private String run(String... arguments) {
        return cli.run(arguments).out();
    }

    @Test
    @Tag("campaign")
    void hazard_45_a_process_that_is_killed_during_a_delivery_makes_it_again_with_the_same_content() throws Exception {
        pipeline("idempotent");
        try (OnefoldProcess run = start()) {
            awaitReceiver();
            run.kill();
        }
        long left = Long.parseLong(Files.readString(folder.resolve("pid")).strip());
        assertThat(ProcessHandle.of(left)).as("the command lives on").hasValueSatisfying(ProcessHandle::isAlive);
        try (OnefoldProcess run = start()) {
            await("the next run has ended it", () -> ProcessHandle.of(left).isEmpty());
            go();
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
        assertThat(effects()).isEqualTo(all());
        assertThat(Files.readAllLines(folder.resolve("got-b-000001"))).isEqualTo(all().subList(0, 10));
    }

    @Test
    @Tag("campaign")
    void hazard_74_a_once_delivery_whose_process_is_killed_is_in_doubt_and_waits_for_a_person() throws Exception {
        pipeline("once");
        try (OnefoldProcess run = start()) {
            awaitReceiver();
            run.kill();
        }
        go(); // The command lives on, and has its effect after the process was killed.
        await("the effect has happened", () -> Files.exists(folder.resolve("got-b-000001")));
        try (OnefoldProcess run = start()) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains("1 of them for a person to decide");
        }
        assertThat(effects()).isEqualTo(all().subList(0, 10));
        assertThat(run("batches", "b.yaml", "list"))
                .contains("in doubt", "000001 and what waits for a person hold up later ones");
        assertThat(run("status", "b.yaml")).containsPattern("in doubt +1").containsPattern("done +0");
        assertThat(run("batches", "b.yaml", "release", "1", "--delivered")).contains("is done");
        assertThat(cli.run("batches", "b.yaml", "redeliver", "1").err())
                .contains("it is done, and its receiver has it");
        try (OnefoldProcess run = start()) {
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
        assertThat(effects()).isEqualTo(all());
    }

    @Test
    void a_command_that_is_killed_is_started_again_if_a_second_effect_does_not_matter() throws Exception {
        pipeline("idempotent");
        try (OnefoldProcess run = start()) {
            awaitReceiver();
            killReceiver();
            awaitReceiver();
            go();
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
        assertThat(effects()).isEqualTo(all());
    }

    @Test
    void a_command_that_is_killed_is_in_doubt_if_it_does_and_is_delivered_again_when_a_person_says_so()
            throws Exception {
        pipeline("once");
        try (OnefoldProcess run = start()) {
            awaitReceiver();
            killReceiver();
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
        assertThat(run("batches", "b.yaml", "show", "1")).contains("in doubt");
        assertThat(run("batches", "b.yaml", "redeliver", "1")).contains("is delivered again");
        go();
        try (OnefoldProcess run = start()) {
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
        assertThat(effects()).isEqualTo(all());
    }
}
