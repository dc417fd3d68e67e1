package dev.onefold.receivers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandReceiverTest {
    private static final String CONTENT = "{\"id\":1}\n{\"id\":2}\n";
    private static final Handover BATCH = Sample.handover(42, CONTENT);
    private static final Handover LARGE = Sample.handover(43, "{\"id\":1}\n".repeat(100_000));

    @TempDir
    private Path folder;

    private Outcome run(Handover handover, Map<String, String> options, String... words) throws InterruptedException {
        try (Receiver receiver =
                Sample.open(Sample.destination(Kind.COMMAND, List.of(words), options), folder, Map.of())) {
            return receiver.deliver(handover);
        }
    }

    private Outcome sh(String script) throws InterruptedException {
        return run(BATCH, Map.of(), "sh", "-c", script);
    }

    @Test
    void a_command_reads_the_content_and_knows_the_batch() throws Exception {
        assertThat(sh("cat > content; env | grep ^ONEFOLD_ | grep -v _REQUIRED | grep -v _HANDOVER | sort > variables"))
                .isEqualTo(new Outcome.Done());
        assertThat(folder.resolve("content")).hasContent(CONTENT);
        assertThat(folder.resolve("variables"))
                .hasContent("ONEFOLD_ATTEMPT=1\nONEFOLD_BATCH=quakes-000042\nONEFOLD_BYTES=18\n"
                        + "ONEFOLD_NUMBER=000042\nONEFOLD_RECORDS=2\nONEFOLD_SHA256="
                        + BATCH.manifest().sha256() + "\n");
    }

    @Test
    void the_exit_code_says_what_came_of_it() throws Exception {
        assertThat(sh("exit 75"))
                .isEqualTo(new Outcome.NotNow("The command asks to try again later (exit code 75)", null));
        assertThat(sh("echo 'bad row 7' >&2; exit 3"))
                .isEqualTo(new Outcome.Refused("The command ended with exit code 3: bad row 7"));
        assertThat(sh("kill -9 $$")).isEqualTo(new Outcome.Unknown("The command was ended by signal 9"));
    }

    @Test
    void a_command_need_not_read_its_input() throws Exception {
        assertThat(run(LARGE, Map.of(), "true")).isEqualTo(new Outcome.Done());
        assertThat(run(LARGE, Map.of(), "sh", "-c", "head -c 5; exit 75")).isInstanceOf(Outcome.NotNow.class);
    }

    @Test
    void a_command_may_say_any_amount_and_the_last_of_it_is_kept() throws Exception {
        Outcome outcome = run(
                LARGE,
                Map.of(),
                "sh",
                "-c",
                "i=0; while [ $i -lt 20000 ]; do echo 'some noise, and more noise'; echo line $i >&2; i=$((i+1)); done;"
                        + " cat > /dev/null; exit 4");
        assertThat(((Outcome.Refused) outcome).reason()).endsWith("line 19999").hasSizeBetween(1_900, 2_100);
    }

    @Test
    void a_command_that_cannot_be_started_has_done_nothing() throws Exception {
        assertThat(run(BATCH, Map.of(), "no-such-command-here"))
                .isInstanceOfSatisfying(
                        Outcome.NotNow.class,
                        outcome -> assertThat(outcome.reason())
                                .startsWith("The command no-such-command-here cannot be started: "));
    }

    @Test
    void a_script_that_does_not_find_a_program_may_have_done_its_work_before() throws Exception {
        for (Batching.Receiver kind : List.of(Batching.Receiver.ONCE, Batching.Receiver.IDEMPOTENT)) {
            Class<? extends Outcome> unclear =
                    kind == Batching.Receiver.ONCE ? Outcome.Unknown.class : Outcome.NotNow.class;
            assertThat(run(kind, "sh", "-c", "cat > loaded; no-such-program")).isInstanceOf(unclear);
            assertThat(run(kind, "sh", "-c", "cat > loaded; " + folder)).isInstanceOf(unclear);
            assertThat(run(kind, "no-such-program")).isInstanceOf(Outcome.NotNow.class);
            assertThat(run(kind, folder.toString())).isInstanceOf(Outcome.NotNow.class);
            assertThat(run(kind, "sh", "-c", "cat > loaded; exec setsid -w no-such-program"))
                    .as("the program for sessions of its own is the script's")
                    .isInstanceOf(unclear);
        }
    }

    @Test
    void a_command_that_a_killed_run_left_is_ended_though_the_data_directory_was_moved() throws Exception {
        Path spool = Files.createDirectory(folder.resolve("spool"));
        ProcessBuilder command = new ProcessBuilder("sleep", "600");
        LeftBehind.mark(command, spool);
        Process left = command.start();
        Path moved = Files.move(spool, folder.resolve("moved"));
        LeftBehind.end(moved);
        assertThat(left.isAlive()).isFalse();
    }

    private Outcome run(Batching.Receiver kind, String... words) throws InterruptedException {
        Batching batching = Sample.batching(Sample.destination(Kind.COMMAND, List.of(words), Map.of()), kind);
        try (Receiver receiver = Sample.open(batching, folder, Map.of(), new Format.Json())) {
            return receiver.deliver(BATCH);
        }
    }

    @Test
    @Tag("campaign")
    void a_command_that_takes_too_long_is_killed_with_its_children() throws Exception {
        String script = "sleep 600 & echo $! > child; (setsid sh -c 'echo $$ > left; exec sleep 600' &); wait";
        assertThat(run(BATCH, Map.of("timeout", "2s"), "sh", "-c", script))
                .isEqualTo(new Outcome.Unknown("The command was killed, because it ran longer than 2 s"));
        for (String file : List.of("child", "left")) {
            long child = Long.parseLong(Files.readString(folder.resolve(file)).strip());
            assertThat(ProcessHandle.of(child)
                            .filter(ProcessHandle::isAlive)
                            .map(handle -> handle.info().command().orElse("")) // Dead, and perhaps not yet collected.
                            .orElse(""))
                    .isEmpty();
        }
    }

    @Test
    @Tag("campaign")
    void commands_that_ended_while_this_process_was_stopped_have_their_own_outcomes() throws Exception {
        String script = "sleep 0.5; kill -STOP $PPID; exit 3";
        String go = "while sleep 4; do kill -CONT " + ProcessHandle.current().pid() + " || exit; done";
        Process going = new ProcessBuilder("setsid", "sh", "-c", go).start();
        Destination destination =
                Sample.destination(Kind.COMMAND, List.of("sh", "-c", script), Map.of("timeout", "2s"));
        try (Receiver receiver = Sample.open(destination, folder, Map.of());
                ExecutorService threads = Executors.newFixedThreadPool(20)) {
            List<Future<Outcome>> outcomes = threads.invokeAll(Collections.nCopies(20, () -> receiver.deliver(BATCH)));
            for (Future<Outcome> outcome : outcomes) {
                assertThat(outcome.get()).isEqualTo(new Outcome.Refused("The command ended with exit code 3"));
            }
        }
        going.destroy();
    }

    @Test
    void an_interrupted_attempt_kills_the_command() throws Exception {
        AtomicReference<Object> ended = new AtomicReference<>();
        Process mark = new ProcessBuilder("mkfifo", folder.resolve("begun").toString()).start();
        mark.waitFor();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                ended.set(sh("echo $$ > begun; sleep 600"));
            } catch (InterruptedException e) {
                ended.set(e);
            }
        });
        long command = Long.parseLong(Files.readString(folder.resolve("begun")).strip()); // Waits for the writer.
        ProcessHandle handle = ProcessHandle.of(command).orElseThrow();
        thread.interrupt();
        thread.join();
        assertThat(ended.get()).isInstanceOf(InterruptedException.class);
        handle.onExit().get();
    }

    @Test
    void a_content_that_is_not_the_sealed_one_reaches_no_command() throws IOException {
        Handover damaged = new Handover(BATCH.manifest(), 1, () -> new ByteArrayInputStream(new byte[] {1, 2, 3}));
        assertThatThrownBy(() -> run(damaged, Map.of(), "sh", "-c", "echo ran > ran"))
                .isInstanceOf(EngineException.class);
        assertThat(folder.resolve("ran")).doesNotExist();
    }

    @Test
    void the_standard_input_is_a_file_that_is_whole_before_the_command_begins_and_gone_afterwards() throws Exception {
        byte[] large = new byte[1 << 20]; // More than a pipe holds.
        Arrays.fill(large, (byte) 'x');
        Handover handover =
                new Handover(Sample.manifest(BatchNumber.of(1), large, 1), 1, () -> new ByteArrayInputStream(large));
        assertThat(run(handover, Map.of(), "sh", "-c", "test -f /dev/stdin && stat -Lc %s /dev/stdin > size"))
                .isEqualTo(new Outcome.Done());
        assertThat(folder.resolve("size")).hasContent("1048576");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactly(folder.resolve("size"));
        }
    }
}
