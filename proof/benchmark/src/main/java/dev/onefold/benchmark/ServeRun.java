package dev.onefold.benchmark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/// What a service does beside what its engine does alone. Clients run in this process, the service in another one.
final class ServeRun {
    private static final int CLIENTS = 8;
    private static final int BODY_LINES = 1_000;
    private static final String TRADES = "/v1/trade-risk/records";
    private static final String MANY = "/v1/many/records";
    private static final int AREAS = 100;

    private final Service service;
    private final int seconds;
    private final int groups;

    /// @param seconds that each figure is taken for
    /// @param groups of the pipeline with many
    ServeRun(Service service, int seconds, int groups) {
        this.service = service;
        this.seconds = seconds;
        this.groups = groups;
    }

    private interface Work {
        void run(int client) throws IOException;
    }

    private static void atATime(int clients, Work work) throws IOException, InterruptedException {
        try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                int client = i;
                all.add(threads.submit(() -> {
                    work.run(client);
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    /// Requests of so many lines of a file each.
    static List<byte[]> bodies(Path input) throws IOException {
        List<byte[]> bodies = new ArrayList<>();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int lines = 0;
        byte[] bytes = new byte[1 << 20];
        try (InputStream in = Files.newInputStream(input)) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                int from = 0;
                for (int i = 0; i < read; i++) {
                    if (bytes[i] == '\n' && ++lines == BODY_LINES) {
                        body.write(bytes, from, i + 1 - from);
                        bodies.add(body.toByteArray());
                        body.reset();
                        from = i + 1;
                        lines = 0;
                    }
                }
                body.write(bytes, from, read - from);
            }
        }
        return bodies;
    }

    /// Sends all bodies by some clients, each body once; returns records a second.
    double post(List<byte[]> bodies) throws IOException, InterruptedException {
        AtomicInteger next = new AtomicInteger();
        Duration cpu = service.cpu();
        long began = System.nanoTime();
        atATime(CLIENTS, _ -> {
            try (Connection connection = new Connection(service.uri())) {
                for (int i = next.getAndIncrement(); i < bodies.size(); i = next.getAndIncrement()) {
                    connection.ask(Connection.post(TRADES, bodies.get(i)));
                }
            }
        });
        double wall = (System.nanoTime() - began) / 1e9;
        long records = (long) bodies.size() * BODY_LINES;
        say(
                "POST, %d clients, %,d lines each: %,.0f records/s, service %.2f CPU-s per million",
                CLIENTS, BODY_LINES, records / wall, service.cpu().minus(cpu).toMillis() / 1e3 / records * 1e6);
        return records / wall;
    }

    /// Sends records at a steady rate, whatever the service does; a delay counts from when a request should have been
    /// sent, so that a service that falls behind does not hide it. Before the time that counts it is warmed up, for
    /// a quarter of that time.
    void steady(int perSecond, int lines) throws IOException, InterruptedException {
        int warming = perSecond / lines * seconds / 4;
        int requests = warming + perSecond / lines * seconds;
        long[] delays = new long[requests];
        AtomicInteger next = new AtomicInteger();
        long began = System.nanoTime() + 100_000_000;
        atATime(CLIENTS, client -> {
            SplittableRandom random = new SplittableRandom(client);
            try (Connection connection = new Connection(service.uri())) {
                for (int i = next.getAndIncrement(); i < requests; i = next.getAndIncrement()) {
                    byte[] request = Connection.post(MANY, records(random, lines));
                    long due = began + i * 1_000_000_000L * lines / perSecond;
                    while (System.nanoTime() < due) {
                        LockSupport.parkNanos(due - System.nanoTime());
                    }
                    connection.ask(request);
                    delays[i] = System.nanoTime() - due;
                }
            }
        });
        Arrays.sort(delays, warming, requests);
        int counted = requests - warming;
        say(
                "%,d records/s in requests of %,d lines: until the answer p50 %.2f ms, p99 %.2f ms, longest %.2f ms",
                perSecond,
                lines,
                delays[warming + counted / 2] / 1e6,
                delays[requests - 1 - counted / 100] / 1e6,
                delays[requests - 1] / 1e6);
    }

    /// The same beside readers of changes, from the moment at which they come.
    ///
    /// @param path of each reader's stream
    void besideReaders(String what, int readers, IntFunction<String> path, int perSecond)
            throws IOException, InterruptedException {
        Duration cpu = service.cpu();
        long began = System.nanoTime();
        try (Readers beside = new Readers(service.uri(), readers, path)) {
            steady(perSecond, 50);
            double wall = (System.nanoTime() - began) / 1e9;
            say(
                    "    beside %,d readers of %s, who took %,.1f MB/s; the service used %.2f processors, %,d MB"
                            + " resident",
                    readers,
                    what,
                    beside.bytes() / 1e6 / wall,
                    service.cpu().minus(cpu).toMillis() / 1e3 / wall,
                    service.residentBytes() >> 20);
        }
    }

    /// Requests of one line each, one behind the other for each client.
    void oneLine(int clients) throws IOException, InterruptedException {
        AtomicLong requests = new AtomicLong();
        long until = System.nanoTime() + seconds * 1_000_000_000L;
        atATime(clients, client -> {
            SplittableRandom random = new SplittableRandom(client);
            try (Connection connection = new Connection(service.uri())) {
                while (System.nanoTime() < until) {
                    connection.ask(Connection.post(MANY, records(random, 1)));
                    requests.incrementAndGet();
                }
            }
        });
        say("requests of one line, %d clients: %,.0f/s", clients, (double) requests.get() / seconds);
    }

    /// Gives each group of the pipeline with many a record.
    void fill() throws IOException {
        try (Connection connection = new Connection(service.uri())) {
            for (int from = 0; from < groups; from += BODY_LINES) {
                StringBuilder body = new StringBuilder();
                for (int i = from; i < Math.min(groups, from + BODY_LINES); i++) {
                    record(body, i, 0);
                }
                connection.ask(Connection.post(MANY, body.toString().getBytes(StandardCharsets.US_ASCII)));
            }
        }
    }

    private byte[] records(SplittableRandom random, int lines) {
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < lines; i++) {
            record(body, random.nextInt(groups), System.nanoTime());
        }
        return body.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void record(StringBuilder body, int id, long version) {
        body.append("{\"id\":")
                .append(id)
                .append(",\"v\":")
                .append(version)
                .append(",\"area\":\"area-")
                .append(id % AREAS)
                .append("\",\"place\":\"place-")
                .append(id)
                .append("\",\"value\":")
                .append(version % 10_000)
                .append(".25}\n");
    }

    /// What happens beside intake at a rate of records a second.
    private interface Beside {
        void run(long untilNanos) throws IOException, InterruptedException;
    }

    private Duration besideIntake(int perSecond, Beside beside) throws IOException, InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        int lines = Math.max(1, perSecond / 20);
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<?> intake = thread.submit(() -> {
                SplittableRandom random = new SplittableRandom(perSecond);
                try (Connection connection = new Connection(service.uri())) {
                    long due = System.nanoTime();
                    while (!isOver.get()) {
                        connection.ask(Connection.post(MANY, records(random, lines)));
                        due += 1_000_000_000L * lines / perSecond;
                        LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
                    }
                }
                return null;
            });
            Duration cpu = service.cpu();
            try {
                beside.run(System.nanoTime() + seconds * 1_000_000_000L);
            } finally {
                isOver.set(true);
            }
            Duration used = service.cpu().minus(cpu);
            intake.get();
            return used;
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    /// Whole answers one behind the other, while records come.
    void totals(String what, String path, int intake) throws IOException, InterruptedException {
        long[] answers = {0, 0};
        besideIntake(intake, until -> {
            try (Connection connection = new Connection(service.uri())) {
                while (System.nanoTime() < until) {
                    answers[1] = connection.ask(Connection.get(path));
                    answers[0]++;
                }
            }
        });
        say(
                "totals of %s beside %,d records/s: %,.1f/s, of %,d bytes",
                what, intake, (double) answers[0] / seconds, answers[1]);
    }

    /// What the live page costs the service while its groups change: its stream of changes, and its own polls.
    void page(int intake) throws IOException, InterruptedException {
        Duration alone = besideIntake(intake, ServeRun::sleep);
        Duration page = besideIntake(intake, until -> {
            String level = "/v1/many/changes?rollup=main&group-json=%5B%5D&by=value&limit=60&skip=0";
            Thread reader;
            try (Connection changes = new Connection(service.uri());
                    Connection polls = new Connection(service.uri())) {
                changes.begin(Connection.get(level));
                reader = Thread.ofVirtual().start(() -> readAll(changes));
                for (int i = 0; System.nanoTime() < until; i++) {
                    polls.ask(Connection.get("/v1/many/status"));
                    if (i % 2 == 0) {
                        polls.ask(Connection.get("/metrics"));
                    }
                    sleep(Math.min(until, System.nanoTime() + 1_000_000_000L));
                }
            }
            reader.join(); // It ends with its connection.
        });
        say(
                "page of %,d groups beside %,d records/s: %.1f %% of a core, and %.1f %% without it",
                groups, intake, page.toMillis() / 10.0 / seconds, alone.toMillis() / 10.0 / seconds);
    }

    private static void readAll(Connection changes) {
        byte[] some = new byte[64 << 10];
        try {
            while (changes.more(some) >= 0) {
                // What is in it does not matter.
            }
        } catch (IOException closed) {
            // The page was left.
        }
    }

    private static void sleep(long untilNanos) {
        while (System.nanoTime() < untilNanos) {
            LockSupport.parkNanos(untilNanos - System.nanoTime());
        }
    }

    /// Memory of readers of changes for whom nothing changes.
    void idleStreams(int streams) throws IOException {
        long before = service.residentBytes();
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < streams; i++) {
                Connection stream = new Connection(service.uri());
                open.add(stream);
                stream.begin(Connection.get("/v1/trade-risk/changes?depth=0"));
            }
            sleep(System.nanoTime() + seconds * 1_000_000_000L);
            long more = service.residentBytes() - before;
            say("%,d idle streams of changes: %,d MB more, %,d KB each", streams, more >> 20, (more >> 10) / streams);
        } finally {
            for (Connection stream : open) {
                stream.close();
            }
        }
    }

    private static void say(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format + "%n", arguments);
    }
}
