package dev.onefold.cli.run;

import static dev.onefold.cli.OnefoldProcess.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Batches in the order of keys, in real processes that are really killed, with real receivers that fail at
/// random. Record n has the key n % [#KEYS].
class KilledByKeyTest {
    private static final int RECORDS = Integer.getInteger("keyed.records", 120);
    private static final int KEYS = 8;
    private static final int KILLS = Integer.getInteger("keyed.kills", 2);

    /// Fails one time of eight before its effect, and one time of eight after it.
    private static final String RECEIVER = """
            chance=$(( $(od -An -N1 -tu1 /dev/urandom) % 8 ))
            [ $chance = 0 ] && exit 75
            cat >> effects
            [ $chance = 1 ] && kill -9 $$
            exit 0
            """;

    @TempDir
    Path folder;

    private Cli cli;
    private final SplittableRandom random = new SplittableRandom();
    private final List<Integer> effects = new ArrayList<>();
    private final Set<Integer> in = new HashSet<>();
    private final List<String> wrong = new ArrayList<>();

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("take.sh", RECEIVER);
        cli.write(
                "in.ndjson",
                IntStream.range(0, RECORDS)
                        .mapToObj(id -> "{\"id\":" + id + ",\"k\":" + id % KEYS + "}\n")
                        .collect(Collectors.joining()));
    }

    private void pipeline(String deliver) {
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id, key: k}
                batch:
                  size: 1
                  order: key
                  concurrency: 6
                  deliver: {%s}
                  receiver: idempotent
                  retry: {delays: [1s], for: 1h}
                """.formatted(deliver));
    }

    private static int id(String record) {
        return Integer.parseInt(record.substring(record.indexOf(':') + 1, record.indexOf(',')));
    }

    private void answer(HttpExchange exchange) throws IOException {
        int id = id(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        int status;
        synchronized (this) {
            if (id >= KEYS && !in.contains(id - KEYS)) {
                wrong.add(id + " came before " + (id - KEYS));
            }
            status = switch (random.nextInt(12)) {
                case 0 -> 503; // It is not in.
                case 1 -> 500; // It is in, and the answer says nothing.
                default -> 200;
            };
            if (status != 503) {
                in.add(id);
                effects.add(id);
            }
        }
        if (status == 503) {
            exchange.getResponseHeaders().add("Retry-After", "1");
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private synchronized int count() {
        return in.size();
    }

    private void runAndKill() throws Exception {
        for (int kill = 1; kill <= KILLS; kill++) {
            int enough = kill * RECORDS / (KILLS + 1);
            try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "b.yaml", "--input", "in.ndjson")) {
                await("some are in", () -> size() >= enough);
                run.kill();
            }
        }
        try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "b.yaml", "--input", "in.ndjson")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
    }

    private int size() {
        Path file = folder.resolve("effects");
        try {
            return Files.exists(file) ? new HashSet<>(Files.readAllLines(file)).size() : count();
        } catch (IOException e) {
            return 0;
        }
    }

    /// The first and the last effects of each key are in the order of its records.
    private void requireOrder(List<Integer> all) {
        Map<Integer, Integer> first = new HashMap<>();
        Map<Integer, Integer> last = new HashMap<>();
        for (int i = 0; i < all.size(); i++) {
            first.putIfAbsent(all.get(i), i);
            last.put(all.get(i), i);
        }
        assertThat(first.keySet()).hasSize(RECORDS);
        for (int id = KEYS; id < RECORDS; id++) {
            assertThat(first.get(id)).as("first of " + id).isGreaterThan(first.get(id - KEYS));
            assertThat(last.get(id)).as("last of " + id).isGreaterThan(last.get(id - KEYS));
        }
    }

    @Test
    @Tag("campaign")
    void a_server_that_fails_at_random_gets_each_key_in_order_from_processes_that_are_killed() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
        try {
            pipeline("http: 'http://127.0.0.1:" + server.getAddress().getPort() + "/'");
            runAndKill();
        } finally {
            server.stop(0);
        }
        assertThat(wrong).isEmpty();
        requireOrder(effects);
    }

    @Test
    @Tag("campaign")
    void commands_that_fail_at_random_have_each_key_in_order_from_processes_that_are_killed() throws Exception {
        pipeline("command: [sh, take.sh]");
        runAndKill();
        requireOrder(Files.readAllLines(folder.resolve("effects")).stream()
                .map(KilledByKeyTest::id)
                .toList());
    }
}
