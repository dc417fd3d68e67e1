package dev.onefold.cli.run;

import static dev.onefold.cli.OnefoldProcess.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.OnefoldProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes, really killed. The pipeline has no ids, so that a line that counts twice or never shows in the
/// totals.
class KilledRunTest {
    private static final String PIPELINE = """
            pipeline: lines
            input: {format: json}
            rollup:
              levels: []
              measures:
                lines: count()
                sum: sum(n) decimal(18,0)
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void writePipeline() {
        cli = Cli.in(folder);
        cli.write("lines.yaml", PIPELINE);
    }

    private static String line(int n) {
        return "{\"n\":" + n + "}\n";
    }

    private String totals() {
        Result result = cli.run("query", "lines.yaml", "--format", "csv");
        return result.exitCode() == 0 ? result.lines().getLast() : result.err();
    }

    private static String right(long lines) {
        return "0," + lines + "," + lines * (lines + 1) / 2;
    }

    @Test
    void a_producer_that_sends_again_from_its_last_acknowledgement_is_counted_once() throws Exception {
        int lines = 60_000;
        Random random = new Random(7);
        long acknowledged = 0;
        for (int life = 0; acknowledged < lines; life++) {
            long killAt = life < 3 ? acknowledged + 1 + random.nextInt(15_000) : Long.MAX_VALUE;
            acknowledged = Math.max(acknowledged, send(acknowledged, lines, killAt));
        }
        assertThat(totals()).isEqualTo(right(lines));
    }

    /// Sends lines from behind those that are acknowledged, and kills the process at an acknowledgement. Returns the
    /// last one seen.
    private long send(long from, int lines, long killAt) throws Exception {
        long acknowledged = from;
        try (OnefoldProcess run = OnefoldProcess.start(
                folder,
                "run",
                "lines.yaml",
                "--input",
                "-",
                "--acknowledge",
                "--source",
                "p",
                "--from",
                String.valueOf(from + 1))) {
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try (OutputStream out = run.process().getOutputStream()) {
                    for (int n = (int) from + 1; n <= lines; n++) {
                        out.write(line(n).getBytes(StandardCharsets.UTF_8));
                        if (n % 500 == 0) {
                            out.flush();
                        }
                    }
                } catch (IOException killed) {
                    // That is the point.
                }
            });
            BufferedReader out = run.process().inputReader();
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                assertThat(Long.parseLong(line)).isGreaterThanOrEqualTo(acknowledged);
                acknowledged = Long.parseLong(line);
                if (acknowledged >= killAt) {
                    run.kill();
                    break;
                }
            }
            sending.join();
            if (killAt == Long.MAX_VALUE) {
                assertThat(run.exitCode()).as(run.err()).isZero();
            }
        }
        return acknowledged;
    }

    @Test
    @Tag("campaign")
    void a_followed_file_that_is_rotated_is_counted_once_though_the_reader_is_killed() throws Exception {
        AtomicInteger written = new AtomicInteger();
        AtomicInteger stop = new AtomicInteger();
        cli.write("app.log", "");
        CompletableFuture<Void> writer = null;
        for (int life = 0; life < 3; life++) {
            try (OnefoldProcess run = follow()) {
                // What was rotated before anybody followed is nobody's business.
                writer = writer == null ? CompletableFuture.runAsync(() -> write(written, stop)) : writer;
                int seen = written.get();
                await("more is written", () -> written.get() > seen + 3_000);
                assertThat(run.process().isAlive()).as(run.err()).isTrue();
            }
        }
        stop.set(1);
        writer.join();
        try (OnefoldProcess run = follow()) {
            await(
                    "all is folded",
                    () -> totals().equals(right(written.get()))
                            || !run.process().isAlive());
            run.signal("TERM");
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains("Folded ").contains("Durable in onefold-data/lines");
        }
        assertThat(totals()).isEqualTo(right(written.get()));
        assertThat(folder.resolve("app.log.1")).exists();
    }

    private OnefoldProcess follow() throws IOException {
        OnefoldProcess run = OnefoldProcess.start(folder, "run", "lines.yaml", "--input", "app.log", "--follow");
        await(
                "it follows",
                () -> run.err().contains("Following") || !run.process().isAlive());
        return run;
    }

    /// Appends lines, and rotates after every few thousand.
    private void write(AtomicInteger written, AtomicInteger stop) {
        Path log = folder.resolve("app.log");
        try {
            int rotation = 0;
            while (stop.get() == 0 || rotation == 0) {
                StringBuilder lines = new StringBuilder();
                int n = written.get();
                for (int i = 1; i <= 50; i++) {
                    lines.append(line(n + i));
                }
                Files.writeString(log, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                written.set(n + 50);
                if (written.get() % 4_000 == 0) {
                    Files.move(log, folder.resolve("app.log." + ++rotation));
                    Files.writeString(log, "");
                }
                LockSupport.parkNanos(5_000_000);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void an_interrupt_ends_with_130_and_a_checkpoint_and_verbs_work_beside_it() throws Exception {
        cli.write("app.log", line(1) + line(2));
        try (OnefoldProcess run = follow()) {
            await("both lines are in", () -> totals().equals(right(2)));
            assertThat(cli.run("verify", "lines.yaml").exitCode()).isIn(0, 2);
            run.signal("INT");
            assertThat(run.exitCode()).as(run.err()).isEqualTo(130);
            assertThat(run.out()).startsWith("Stopped. The same command goes on following app.log.\nFolded ");
        }
        assertThat(totals()).isEqualTo(right(2));
    }

    @Test
    void standard_input_that_gives_nothing_does_not_keep_a_stop_waiting() throws Exception {
        try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "lines.yaml", "--input", "-", "--acknowledge")) {
            OutputStream out = run.process().getOutputStream();
            out.write(line(1).getBytes(StandardCharsets.UTF_8));
            out.flush();
            assertThat(run.process().inputReader().readLine()).isEqualTo("1");
            run.signal("TERM");
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.err()).contains("Stopped. Lines of standard input that were read are folded");
        }
        assertThat(totals()).isEqualTo(right(1));
    }
}
