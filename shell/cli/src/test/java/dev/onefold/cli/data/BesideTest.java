package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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

    /// The engine of an application that embeds it.
    static EmbeddedEngine own(Path directory) {
        return EmbeddedEngine.open(directory, Settings.defaults());
    }

    private Path directory() {
        return folder.resolve("onefold-data").resolve("trades");
    }

    @Test
    void verbs_answer_the_same_through_the_owner_as_by_themselves() {
        String alone = cli.run("query", "trades.yaml", "--format", "csv").out();
        try (EmbeddedEngine owner = own(directory())) {
            assertThat(cli.run("query", "trades.yaml", "--format", "csv").out()).isEqualTo(alone);
            byte[] line = Cli.trade("2", 1, "FX", "EMEA", "7").getBytes(StandardCharsets.UTF_8);
            owner.append("live", 1, line, line.length);
            assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).contains("12.00");
            assertThat(cli.run("get", "trades.yaml", "2").out()).containsPattern("from +live, offset 0");
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
        try (EmbeddedEngine _ = own(directory())) {
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
        try (EmbeddedEngine _ = own(directory());
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
        try (EmbeddedEngine _ = own(socket)) {
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
            try (EmbeddedEngine _ = own(owned)) {
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
        try (EmbeddedEngine _ = own(directory)) {
            assertThat(cli.run("query", "trades.yaml", "--data", directory.toString())
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    void a_second_run_is_refused_and_names_the_first() {
        try (EmbeddedEngine _ = own(directory())) {
            Result result = cli.run("run", "trades.yaml", "--input", "in.ndjson");
            assertThat(result.exitCode()).isEqualTo(3);
            assertThat(result.err())
                    .contains("in use", String.valueOf(ProcessHandle.current().pid()));
        }
    }

    @Test
    void every_verb_says_the_same_beside_an_application_that_embeds_the_engine() throws IOException {
        List<List<String>> verbs = List.of(
                List.of("query"),
                List.of("query", "--format", "json"),
                List.of("query", "--top", "1", "--by", "value"),
                List.of("query", "--group", "none"),
                List.of("query", "--rollup", "none"),
                List.of("get", "1"),
                List.of("get", "1", "--format", "json"),
                List.of("get", "1", "2"),
                List.of("status"),
                List.of("verify"),
                List.of("verify", "--from-sources"),
                List.of("journal"),
                List.of("dead-letters", "list", "--format", "json"),
                List.of("dead-letters", "show", "1"),
                List.of("dead-letters", "show", "1", "--edited"),
                List.of("dead-letters", "show", "7"),
                List.of("dead-letters", "export", "--output", "-"),
                List.of("dead-letters", "redrive", "1"),
                List.of("dead-letters", "redrive", "--all"),
                List.of("rebuild"),
                List.of("rebuild", "--from-sources"),
                List.of("dead-letters", "purge", "1", "--yes"),
                List.of("journal", "release", "--yes"));
        Path twin = folder.resolve("twin");
        try (Stream<Path> files = Files.walk(directory())) {
            for (Path each : (Iterable<Path>) files::iterator) {
                Files.copy(each, twin.resolve(directory().relativize(each)));
            }
        }
        try (EmbeddedEngine _ = own(twin)) {
            for (List<String> verb : verbs) {
                assertThat(said(verb, twin)).as("%s", verb).isEqualTo(said(verb, directory()));
            }
        }
    }

    /// What a verb says, without times, sizes and the folder.
    private String said(List<String> verb, Path data) {
        List<String> words = new ArrayList<>(List.of(verb.getFirst(), "trades.yaml"));
        words.addAll(verb.subList(1, verb.size()));
        words.addAll(List.of("--data", data.toString()));
        Result result = cli.run(words.toArray(String[]::new));
        return (result.exitCode() + "\n" + result.out() + result.err())
                .replaceAll("2[0-9]{3}-[0-9-]{5}[ T][0-9:.]+", "TIME")
                .replaceAll("(memory|disk|checkpoint) .*", "$1")
                .replace(data.toString(), "DATA")
                .replace(folder.relativize(data).toString(), "DATA");
    }

    /// What comes back for the bytes of a request.
    private static String answer(Path directory, String request) throws IOException {
        try (SocketChannel visitor =
                SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket")))) {
            visitor.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8)));
            visitor.shutdownOutput();
            return new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void an_older_command_line_is_told_which_version_it_needs() throws IOException {
        Path directory = folder.resolve("d");
        move(directory);
        try (EmbeddedEngine _ = own(directory)) {
            String status = "GET /v1/trades/counts HTTP/1.1\r\nonefold-version: 0.0.9\r\nonefold-api: ";
            assertThat(answer(directory, status + "0\r\n\r\n"))
                    .startsWith("HTTP/1.1 409 ")
                    .contains("application/problem+json", "does not understand Onefold 0.0.9, an older version")
                    .containsPattern("in use by Onefold \\S+ \\(process "
                            + ProcessHandle.current().pid() + "\\)");
            assertThat(answer(directory, status + "99\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("\"accepted\":1,");
        }
    }

    @Test
    void a_visitor_that_leaves_early_or_sends_rubbish_hurts_nobody() throws IOException {
        Path directory = folder.resolve("d");
        move(directory);
        try (EmbeddedEngine _ = own(directory)) {
            for (String rubbish : List.of("", "GET", "GET /v1 HTTP/1.1\r\nHost: x")) {
                assertThat(answer(directory, rubbish)).isEmpty();
            }
            for (String rubbish : List.of("\r\n\r\n", "C\0\0\0\2[]\r\n\r\n", "GET / HTTP/1.1\r\n:\r\n\r\n")) {
                assertThat(answer(directory, rubbish)).startsWith("HTTP/1.1 400 ");
            }
            assertThat(cli.run("query", "trades.yaml", "--data", directory.toString())
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    @Tag("campaign")
    void idle_connections_stop_no_command_and_hold_no_owner() throws Exception {
        Path directory = folder.resolve("d");
        move(directory);
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("engine.socket"));
        List<SocketChannel> idle = new ArrayList<>();
        long closing;
        try (ExecutorService visitor = Executors.newSingleThreadExecutor()) {
            EmbeddedEngine owner = own(directory);
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

    /// Passes requests on to the owner of another directory, and ends as soon as a change was made, before its answer.
    private static boolean dieAfterChange(ServerSocketChannel dying, UnixDomainSocketAddress owner) throws IOException {
        while (true) {
            try (SocketChannel visitor = dying.accept();
                    SocketChannel through = SocketChannel.open(owner)) {
                ByteBuffer request = ByteBuffer.allocate(1 << 16);
                visitor.read(request);
                String head = new String(request.array(), 0, request.position(), StandardCharsets.UTF_8);
                through.write(request.flip());
                byte[] answer = Channels.newInputStream(through).readAllBytes();
                if (head.startsWith("POST ")) {
                    dying.close();
                    return true;
                }
                visitor.write(ByteBuffer.wrap(answer));
            }
        }
    }

    @Test
    void a_verb_whose_owner_ends_after_the_change_is_not_repeated_and_says_that_its_outcome_is_unknown()
            throws Exception {
        Path directory = folder.resolve("d");
        move(directory);
        Path socket = directory.resolve("engine.socket");
        try (EmbeddedEngine _ = own(directory);
                ServerSocketChannel dying = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                ExecutorService owner = Executors.newSingleThreadExecutor()) {
            Path real = Files.move(socket, folder.resolve("real.socket"));
            dying.bind(UnixDomainSocketAddress.of(socket));
            Future<Boolean> dead = owner.submit(() -> dieAfterChange(dying, UnixDomainSocketAddress.of(real)));
            Result purge = cli.run("dead-letters", "trades", "purge", "1", "--yes", "--data", directory.toString());
            assertThat(dead.get()).isTrue();
            assertThat(purge.err()).contains("It is unknown whether the change was made.");
            assertThat(purge.out()).doesNotContain("Purged");
            assertThat(purge.exitCode()).isEqualTo(4);
        }
    }

    /// Standard input that answers as soon as somebody lets it.
    private static final class Prompt extends InputStream {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch answered = new CountDownLatch(1);
        private final InputStream answer;

        Prompt(String answer) {
            this.answer = new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public int read() throws IOException {
            asked.countDown();
            try {
                answered.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return answer.read();
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int read = read();
            bytes[from] = (byte) read;
            return read < 0 ? -1 : 1;
        }
    }

    /// Whatever was there after the answer was purged.
    @Test
    void a_letter_that_comes_while_a_person_thinks_is_not_purged() throws Exception {
        for (String[] which : List.of(new String[] {"--all"}, new String[] {"2"})) {
            Prompt thinking = new Prompt("y\n");
            try (ExecutorService person = Executors.newSingleThreadExecutor();
                    EmbeddedEngine owner = own(directory())) {
                String[] verb = {"dead-letters", "trades", "purge", which[0]};
                Future<Result> purge = person.submit(() -> cli.run(thinking, verb));
                thinking.asked.await();
                owner.append("live", List.of("garbage that came later"));
                thinking.answered.countDown();
                purge.get();
                assertThat(owner.deadLetters().list(0, 9))
                        .singleElement()
                        .satisfies(letter -> assertThat(letter.id()).isEqualTo(which[0].equals("2") ? 3 : 2));
            }
        }
    }

    @Test
    void a_question_to_a_person_holds_neither_the_directory_nor_its_owner() throws Exception {
        try (ExecutorService person = Executors.newSingleThreadExecutor()) {
            Prompt alone = new Prompt("");
            Future<Result> purge = person.submit(() -> cli.run(alone, "dead-letters", "trades", "purge", "--all"));
            alone.asked.await();
            try (EmbeddedEngine owner = own(directory())) {
                owner.append(
                        "live", List.of(Cli.trade("3", 1, "FX", "EMEA", "1").strip()));
            }
            alone.answered.countDown();
            assertThat(purge.get().exitCode()).isEqualTo(1);
            Prompt beside = new Prompt("");
            try (EmbeddedEngine owner = own(directory())) {
                purge = person.submit(() -> cli.run(beside, "dead-letters", "trades", "purge", "--all"));
                beside.asked.await();
                owner.append(
                        "live", List.of(Cli.trade("4", 1, "FX", "EMEA", "1").strip()));
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
