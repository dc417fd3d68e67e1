package dev.onefold.cli.trial;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.OwnProcess;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.load.Pace;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskTotals;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// `onefold serve` in a process of its own, to which messages are sent for as long as a person may want to look
/// at its page. The process is killed on the way, and started again at the same address.
final class ServedRun implements AutoCloseable {
    private static final long RATE = 10_000; // Slowly enough to watch the page.
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration GONE = Duration.ofSeconds(3); // So that the page can be seen to say it.
    private static final Duration START_MAX = Duration.ofSeconds(60);
    private static final int TIMEOUT_MS = 30_000;

    private final Caller caller;
    private final Path folder;
    private final int port;
    private @Nullable OwnProcess service;

    private ServedRun(Caller caller, Path folder, int port) {
        this.caller = caller;
        this.folder = folder;
        this.port = port;
    }

    /// Starts the service.
    ///
    /// @param folder with the pipeline
    static ServedRun start(Caller caller, Path folder) throws IOException, InterruptedException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.writeString(
                folder.resolve("serve.yaml"),
                "port: " + port + "\npipelines:\n  - file: " + DemoCommand.PIPELINE + "\n    data: " + KilledRun.DATA
                        + "\n");
        ServedRun run = new ServedRun(caller, folder, port);
        try {
            run.live();
            return run;
        } catch (IOException | RuntimeException | InterruptedException e) {
            run.close();
            throw e;
        }
    }

    /// The address of the page.
    URI page() {
        return URI.create("http://localhost:" + port + "/");
    }

    /// Sends all messages, and kills the service twice meanwhile.
    void send(TradeRiskLoad load) throws IOException, InterruptedException {
        long messages = load.remaining();
        Pace pace = new Pace(RATE, System.nanoTime());
        try (Progress progress =
                Progress.begin(caller, Progress.Mode.auto, "Sending", Progress.Unit.RECORDS, messages)) {
            int life = 1;
            for (long sent = 0; sent < messages; sent = messages - load.remaining()) {
                if (life < KilledRun.LIVES && sent >= messages / KilledRun.LIVES * life) {
                    close();
                    Thread.sleep(GONE);
                    live();
                    life++;
                }
                ByteArrayOutputStream lines = new ByteArrayOutputStream();
                long some = load.write(lines, pace.batch(messages));
                try (Engine engine = engine()) {
                    engine.append("demo", sent + 1, lines.toByteArray(), lines.size());
                }
                progress.at(sent + some, sent + some);
                pace.keep(some);
            }
        }
    }

    /// Its totals beside those of the producer.
    Comparison compare(TradeRiskTotals right) {
        try (Engine engine = engine()) {
            return new Comparison(engine.query(Query.all(Rollup.MAIN)), engine.counts(), right);
        }
    }

    private Engine engine() {
        return RemoteEngine.connect(folder.resolve(KilledRun.DATA))
                .orElseThrow(() -> new CommandFailure(ExitCode.DIFFERENT, "The service has ended by itself."));
    }

    /// One life of the process: it answers when this returns.
    private void live() throws IOException, InterruptedException {
        Path log = folder.resolve("serve.log");
        OwnProcess started = OwnProcess.start(
                ProcessBuilder.Redirect.to(log.toFile()),
                "serve",
                "--config",
                folder.resolve("serve.yaml").toString());
        service = started;
        long deadline = System.nanoTime() + START_MAX.toNanos();
        while (!isReady()) {
            if (!started.process().isAlive() || System.nanoTime() > deadline) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "The service did not start, and said:\n" + Words.visible(Files.readString(log)));
            }
            Thread.sleep(PAUSE);
        }
    }

    private boolean isReady() throws IOException {
        URLConnection connection = page().resolve("health/ready").toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        try (InputStream _ = connection.getInputStream()) {
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    /// Kills the service, if there is one.
    @Override
    public void close() {
        OwnProcess running = service;
        service = null;
        if (running != null) {
            running.close();
        }
    }
}
