package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// SIGKILL under load, and clients that note answered requests and repeat the others.
@Timeout(900)
class KilledServiceTest {
    private static final int LIVES = 20;
    private static final int CLIENTS = 6;

    @TempDir
    Path directory;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /// One client, over all lives of the service. Its records are 1, 2, 3 and so on, in a group of its own.
    private final class Client {
        private final String name;
        private final boolean isByPlace;
        private final SplittableRandom random;
        private long answered; // Records of requests that were answered.
        private long rejected; // Lines among these that are no record.
        private int requests;
        private @Nullable String pending; // A request whose answer is not known.
        private int pendingRecords;
        private int pendingRejected;

        Client(int number, long seed) {
            name = "c" + number;
            isByPlace = number % 2 == 0;
            random = new SplittableRandom(seed + number);
        }

        /// Sends until the service is not there any more, or has answered all that was asked for.
        void run(URI at, AtomicInteger answersLeft, Runnable enough) throws InterruptedException {
            while (answersLeft.get() > 0) {
                if (pending == null) {
                    prepare();
                }
                try {
                    HttpResponse<String> answer = http.send(request(at), BodyHandlers.ofString());
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                } catch (IOException killed) {
                    return;
                }
                answered += pendingRecords;
                rejected += pendingRejected;
                pending = null;
                if (answersLeft.decrementAndGet() == 0) {
                    enough.run();
                }
            }
        }

        private void prepare() {
            StringBuilder body = new StringBuilder();
            pendingRecords = 1 + random.nextInt(20);
            pendingRejected = isByPlace ? random.nextInt(2) : 0;
            body.append("no record\n".repeat(pendingRejected));
            for (long i = answered + 1; i <= answered + pendingRecords; i++) {
                body.append("{\"id\":\"%s-%d\",\"v\":1,\"desk\":\"%s\",\"value\":%d}\n".formatted(name, i, name, i));
            }
            pending = body.toString();
            requests++;
        }

        private HttpRequest request(URI at) {
            String path = isByPlace
                    ? "/v1/lines/records?source=" + name + "&from=" + (answered + rejected + 1)
                    : "/v1/trades/records";
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(at.resolve(path)).POST(BodyPublishers.ofString(String.valueOf(pending)));
            if (!isByPlace && name.endsWith("1")) {
                request.header("Idempotency-Key", name + "-" + requests);
            }
            return request.build();
        }

        /// Requires that the totals of this client's group are those of its answered records, plus pending
        /// ones at most.
        void requireKept(Map<String, String[]> groups) {
            String[] group = groups.getOrDefault(name, new String[] {"1", name, "0", "0"});
            long n = Long.parseLong(group[3]);
            assertThat(n).as("records of " + name).isIn(answered, answered + (pending == null ? 0 : pendingRecords));
            assertThat(new BigDecimal(group[2]))
                    .as("sum of " + name)
                    .isEqualByComparingTo(BigDecimal.valueOf(n * (n + 1) / 2));
        }
    }

    /// All clients send at a time, until this many answers have come: then the service is killed while others
    /// wait for theirs.
    private static void load(List<Client> clients, ServiceProcess service, int answers) throws Exception {
        AtomicInteger left = new AtomicInteger(answers);
        List<Throwable> failures = new java.util.concurrent.CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Client client : clients) {
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    client.run(service.uri(), left, service::kill);
                } catch (InterruptedException | AssertionError e) {
                    failures.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    private void requireKept(List<Client> clients, URI at) throws Exception {
        for (boolean isByPlace : new boolean[] {true, false}) {
            String csv = get(at, "/v1/" + (isByPlace ? "lines" : "trades") + "/totals?format=csv");
            Map<String, String[]> groups = new HashMap<>();
            csv.lines().map(line -> line.split(",", -1)).forEach(line -> groups.put(line[1], line));
            clients.stream()
                    .filter(client -> client.isByPlace == isByPlace)
                    .forEach(client -> client.requireKept(groups));
        }
    }

    private String get(URI at, String path) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(at.resolve(path)).build(), BodyHandlers.ofString())
                .body();
    }

    @Test
    @Tag("campaign")
    void hazard_85_killed_twenty_times_it_has_what_it_answered_and_nothing_twice() throws Exception {
        long seed = Long.getLong("seed", 1);
        SplittableRandom random = new SplittableRandom(seed);
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(new Client(i, seed));
        }
        for (int life = 0; life < LIVES; life++) {
            int answers = random.nextInt(30);
            try (ServiceProcess service = ServiceProcess.start(directory)) {
                requireKept(clients, service.uri());
                load(clients, service, answers);
            }
        }
        try (ServiceProcess service = ServiceProcess.start(directory)) {
            requireKept(clients, service.uri());
            for (Client client : clients) {
                client.run(service.uri(), new AtomicInteger(1), () -> {});
                assertThat(client.pending).isNull();
            }
            requireKept(clients, service.uri());
            assertThat(get(service.uri(), "/v1/lines/counts"))
                    .contains("\"rejected\":"
                            + clients.stream()
                                    .mapToLong(client -> client.rejected)
                                    .sum());
            HttpRequest verify = HttpRequest.newBuilder(service.uri().resolve("/v1/trades/verify"))
                    .POST(BodyPublishers.noBody())
                    .build();
            assertThat(http.send(verify, BodyHandlers.ofString()).body()).contains("\"equal\":true");
        }
    }
}
