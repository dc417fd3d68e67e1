package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.Onefold;
import dev.onefold.cli.call.Call;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Verbs while somebody else owns the data directory: they go through its socket.
class BesideTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void fold() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5") + "garbage\n");
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
    }

    private Owner own(Path directory) {
        return own(cli, directory);
    }

    static Owner own(Cli cli, Path directory) {
        Call call = new Call(
                cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), new ByteArrayOutputStream()),
                List.of(),
                null,
                (caller, arguments, engine) -> Onefold.execute(caller, arguments, engine));
        return Owner.open(new DataDirectory(directory, "trades", null), Settings.defaults(), call);
    }

    private Path directory() {
        return folder.resolve("onefold-data").resolve("trades");
    }

    @Test
    void verbs_answer_the_same_through_the_owner_as_by_themselves() {
        String alone = cli.run("query", "trades.yaml", "--format", "csv").out();
        try (Owner owner = own(directory())) {
            assertThat(cli.run("query", "trades.yaml", "--format", "csv").out()).isEqualTo(alone);
            byte[] line = Cli.trade("2", 1, "FX", "EMEA", "7").getBytes(StandardCharsets.UTF_8);
            owner.engine().append("live", 1, line, line.length);
            assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).contains("12.00");
            assertThat(cli.run("get", "trades.yaml", "2").out()).containsPattern("from +live, byte 0");
            assertThat(cli.run("verify", "trades.yaml").exitCode()).isZero();
            assertThat(cli.run("get", "trades.yaml", "none").exitCode()).isEqualTo(1);
            assertThat(cli.run("query", "trades.yaml", "--group", "a/b/c").exitCode())
                    .isEqualTo(2);
        }
        assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).contains("12.00");
    }

    @Test
    void a_visitor_keeps_its_own_folder_width_and_standard_input() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Cli visitor = new Cli(elsewhere, cli.screen(), java.util.Map.of("ONEFOLD_DATA", "../onefold-data"));
        try (Owner _ = own(directory())) {
            assertThat(visitor.run("dead-letters", "trades", "export", "--output", "letters.ndjson")
                            .out())
                    .isEqualTo("Wrote 1 dead letter to letters.ndjson.\n");
            assertThat(elsewhere.resolve("letters.ndjson")).exists();
            assertThat(visitor.onTerminal(500).run("query", "trades").out()).contains("12 bytes".substring(2));
            Result no = visitor.runWithInput("no\n", "dead-letters", "trades", "purge", "--all");
            assertThat(no.err()).contains("Purge 1 dead letter for good?");
            assertThat(no.exitCode()).isEqualTo(1);
            Result edited = visitor.runWithInput(
                    Cli.trade("9", 1, "FX", "EMEA", "1"), "dead-letters", "trades", "redrive", "1", "--file", "-");
            assertThat(edited.out()).isEqualTo("letter 1: accepted\n");
        }
    }

    @Test
    void many_visitors_are_served_at_once() throws Exception {
        try (Owner _ = own(directory());
                ExecutorService visitors = Executors.newFixedThreadPool(50)) {
            List<Callable<Integer>> queries = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                queries.add(() -> cli.run("query", "trades.yaml").exitCode());
            }
            for (Future<Integer> exitCode : visitors.invokeAll(queries)) {
                assertThat(exitCode.get()).isZero();
            }
        }
    }

    @Test
    void the_socket_is_its_owners_only_and_is_removed_at_the_end() throws IOException {
        Path socket = folder.resolve("d");
        move(socket);
        try (Owner _ = own(socket)) {
            Path file = socket.resolve("engine.socket");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }
        assertThat(socket.resolve("engine.socket")).doesNotExist();
    }

    @Test
    void a_path_too_long_for_a_socket_reaches_the_same_one_as_a_short_path() throws IOException {
        Path deep = Files.createDirectories(folder.resolve("d".repeat(60)).resolve("e".repeat(60)));
        Path directory = deep.resolve("trades");
        move(directory);
        Path brief = Files.createSymbolicLink(folder.resolve("s"), directory);
        for (Path owned : List.of(directory, brief)) {
            try (Owner _ = own(owned)) {
                assertThat(directory.resolve("engine.socket")).exists();
                for (Path visited : List.of(directory, brief)) {
                    Result result = cli.run("get", "trades.yaml", "1", "--data", visited.toString());
                    assertThat(result.exitCode()).as(result.err()).isZero();
                    assertThat(result.err()).isEmpty();
                    assertThat(cli.run("dead-letters", "trades", "redrive", "1", "--data", visited.toString())
                                    .out())
                            .startsWith("letter 1: rejected again: malformed: ");
                }
            }
            assertThat(directory.resolve("engine.socket")).doesNotExist();
        }
    }

    private void move(Path directory) throws IOException {
        Files.move(directory(), directory);
    }

    @Test
    void what_a_killed_owner_left_is_replaced() throws IOException {
        Path directory = folder.resolve("d");
        move(directory);
        Path socket = directory.resolve("engine.socket");
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        assertThat(cli.run("query", "trades.yaml", "--data", directory.toString())
                        .exitCode())
                .isZero();
        try (Owner _ = own(directory)) {
            assertThat(cli.run("query", "trades.yaml", "--data", directory.toString())
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    void a_second_run_is_refused_and_names_the_first() {
        try (Owner _ = own(directory())) {
            Result result = cli.run("run", "trades.yaml", "--input", "in.ndjson");
            assertThat(result.exitCode()).isEqualTo(3);
            assertThat(result.err())
                    .contains("in use", String.valueOf(ProcessHandle.current().pid()));
        }
    }

    @Test
    void a_visitor_of_another_version_is_told_so() throws IOException {
        Path directory = folder.resolve("d");
        move(directory);
        try (Owner _ = own(directory);
                Frames frames = new Frames(
                        SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket"))))) {
            frames.send(Frames.COMMAND, "{\"protocol\":999}".getBytes(StandardCharsets.UTF_8));
            Frames.Frame frame = frames.read();
            assertThat(frame).isNotNull();
            assertThat(new String(frame.payload(), StandardCharsets.UTF_8)).contains("another version of Onefold");
        }
    }

    @Test
    void a_visitor_that_leaves_early_or_sends_rubbish_hurts_nobody() throws IOException {
        Path directory = folder.resolve("d");
        move(directory);
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("engine.socket"));
        try (Owner _ = own(directory)) {
            for (byte[] rubbish : new byte[][] {{}, {'C', 0x7f, 0, 0, 0}, {'C', 0, 0, 0, 2, '[', ']'}}) {
                try (SocketChannel visitor = SocketChannel.open(address)) {
                    visitor.write(java.nio.ByteBuffer.wrap(rubbish));
                }
            }
            assertThat(cli.run("query", "trades.yaml", "--data", directory.toString())
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    void idle_connections_stop_no_command_and_hold_no_owner() throws Exception {
        Path directory = folder.resolve("d");
        move(directory);
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("engine.socket"));
        List<SocketChannel> idle = new ArrayList<>();
        long closing;
        try (ExecutorService visitor = Executors.newSingleThreadExecutor()) {
            Owner owner = own(directory);
            for (int i = 0; i < 40; i++) {
                idle.add(SocketChannel.open(address));
            }
            for (int i = 0; i < 3; i++) {
                Future<Result> query =
                        visitor.submit(() -> cli.run("query", "trades.yaml", "--data", directory.toString()));
                assertThat(query.get(15, TimeUnit.SECONDS).exitCode()).isZero();
            }
            closing = System.nanoTime();
            owner.close();
            closing = System.nanoTime() - closing;
        } finally {
            for (SocketChannel each : idle) {
                each.close();
            }
        }
        assertThat(Duration.ofNanos(closing)).isLessThan(Duration.ofSeconds(10)); // Half a minute, when it waited.
    }

    /// Standard input that never answers, as long as nobody lets it.
    private static final class Prompt extends InputStream {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch answered = new CountDownLatch(1);

        @Override
        public int read() {
            asked.countDown();
            try {
                answered.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return -1;
        }

        @Override
        public int read(byte[] bytes, int from, int length) {
            return read();
        }
    }

    @Test
    void a_question_to_a_person_holds_neither_the_directory_nor_its_owner() throws Exception {
        try (ExecutorService person = Executors.newSingleThreadExecutor()) {
            Prompt alone = new Prompt();
            Future<Result> purge = person.submit(() -> cli.run(alone, "dead-letters", "trades", "purge", "--all"));
            alone.asked.await();
            try (Owner owner = own(directory())) {
                owner.engine()
                        .append(
                                "live",
                                List.of(Cli.trade("3", 1, "FX", "EMEA", "1").strip()));
            }
            alone.answered.countDown();
            assertThat(purge.get().exitCode()).isEqualTo(1);
            Prompt beside = new Prompt();
            try (Owner owner = own(directory())) {
                purge = person.submit(() -> cli.run(beside, "dead-letters", "trades", "purge", "--all"));
                beside.asked.await();
                owner.engine()
                        .append(
                                "live",
                                List.of(Cli.trade("4", 1, "FX", "EMEA", "1").strip()));
                assertThat(cli.run("query", "trades.yaml", "--depth", "0").out())
                        .contains("7.00");
            } finally {
                beside.answered.countDown();
            }
            assertThat(purge.get().exitCode()).isNotZero();
        }
        assertThat(cli.run("dead-letters", "trades", "list").out()).contains("1 of 1 dead letter");
    }
}
