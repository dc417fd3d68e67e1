package dev.onefold.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Uuid;

/// One broker with its controller, in a process of its own, so that it can be killed. It keeps its topics in a
/// folder, and has them again when it is started there once more.
public final class Broker implements AutoCloseable {
    private static final long START_SECONDS_MAX = 180;
    private static final long TRY_MS = 500;
    private static final String HOST = "localhost";

    private final Process process;
    private final int port;

    private Broker(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /// Starts a broker, and returns when it answers.
    ///
    /// @param port 0 for one that is free
    /// @param settings beside those that one broker on one machine needs; listeners are added to its own
    public static Broker start(Path folder, int port, Map<String, String> settings) throws IOException {
        int own = port == 0 ? freePort() : port;
        Path file = folder.resolve("server.properties");
        if (Files.exists(folder.resolve("data"))) {
            write(file, settings(folder, own, settings));
        } else {
            Files.createDirectories(folder.resolve("data"));
            write(file, settings(folder, own, settings));
            Process format = java(
                    folder,
                    "kafka.tools.StorageTool",
                    "format",
                    "-t",
                    Uuid.randomUuid().toString(),
                    "-c",
                    file.toString());
            end(format, "The folder of the broker cannot be formatted");
        }
        Broker broker = new Broker(java(folder, "kafka.Kafka", file.toString()), own);
        broker.awaitAnswer(folder);
        return broker;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Map<String, String> settings(Path folder, int port, Map<String, String> more) throws IOException {
        Map<String, String> all = new TreeMap<>();
        int controller = freePort();
        all.put("process.roles", "broker,controller");
        all.put("node.id", "1");
        all.put("controller.quorum.voters", "1@" + HOST + ":" + controller);
        all.put("listeners", "PLAINTEXT://" + HOST + ":" + port + ",CONTROLLER://" + HOST + ":" + controller);
        all.put("advertised.listeners", "PLAINTEXT://" + HOST + ":" + port);
        all.put("controller.listener.names", "CONTROLLER");
        all.put("log.dirs", folder.resolve("data").toAbsolutePath().toString());
        all.put("offsets.topic.replication.factor", "1");
        all.put("offsets.topic.num.partitions", "1");
        all.put("transaction.state.log.replication.factor", "1");
        all.put("transaction.state.log.min.isr", "1");
        all.put("transaction.state.log.num.partitions", "1");
        all.put("group.initial.rebalance.delay.ms", "0");
        all.put("auto.create.topics.enable", "false");
        more.forEach((name, value) ->
                all.merge(name, value, (own, added) -> name.endsWith("listeners") ? own + "," + added : added));
        return all;
    }

    private static void write(Path file, Map<String, String> settings) throws IOException {
        Properties properties = new Properties();
        properties.putAll(settings);
        try (var out = Files.newBufferedWriter(file)) {
            properties.store(out, null);
        }
    }

    private static Process java(Path folder, String main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve("broker.log").toFile()))
                .start();
    }

    private static void end(Process process, String otherwise) {
        try {
            if (!process.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException(otherwise + ": see broker.log");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    private void awaitAnswer(Path folder) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        try (Admin admin = admin()) {
            while (true) {
                try {
                    admin.describeCluster().nodes().get(TRY_MS, TimeUnit.MILLISECONDS);
                    return;
                } catch (ExecutionException | java.util.concurrent.TimeoutException e) {
                    if (!process.isAlive() || System.nanoTime() > until) {
                        close();
                        throw new IllegalStateException(
                                "The broker does not answer: see " + folder.resolve("broker.log"), e);
                    }
                }
            }
        } catch (InterruptedException e) {
            close();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    /// Where clients reach it.
    public String servers() {
        return HOST + ":" + port;
    }

    public int port() {
        return port;
    }

    /// A client for what an administrator does.
    public Admin admin() {
        return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers()));
    }

    /// Its process, to be stopped and continued.
    public Process process() {
        return process;
    }

    /// Kills it, as a lost machine does.
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Runs a broker until it is killed: `Broker FOLDER PORT`.
    public static void main(String[] arguments) {
        try {
            Broker broker = start(Path.of(arguments[0]), Integer.parseInt(arguments[1]), Map.of());
            Runtime.getRuntime().addShutdownHook(new Thread(broker::close));
            System.out.println(broker.servers());
            broker.process.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
