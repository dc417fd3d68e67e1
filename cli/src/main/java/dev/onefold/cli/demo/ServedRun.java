package dev.onefold.cli.demo;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.load.TradeRiskTotals;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// `onefold serve` in a process of its own, to which messages are sent for as long as a person may want to look at its
/// page. The process is killed on the way, and started again at the same address.
final class ServedRun implements AutoCloseable {
    private static final int LINES = 500; // Of a request.
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration GONE = Duration.ofSeconds(3); // So that the page can be seen to say it.
    private static final Duration START_MAX = Duration.ofSeconds(60);
    private static final int TIMEOUT_MS = 30_000;
    private static final int LIVES = 3;

    private final Caller caller;
    private final Path folder;
    private final int port;
    private final Thread atExit = new Thread(this::kill);
    private @Nullable Process process;

    private ServedRun(Caller caller, Path folder, int port) {
        this.caller = caller;
        this.folder = folder;
        this.port = port;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /// Starts the service.
    ///
    /// @param folder with the pipeline and the messages
    static ServedRun start(Caller caller, Path folder) throws IOException {
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
        } catch (IOException | RuntimeException e) {
            run.close();
            throw e;
        }
    }

    /// Where the page is.
    URI page() {
        return URI.create("http://localhost:" + port + "/");
    }

    /// Sends all messages, and kills the service twice meanwhile.
    void send(long messages) throws IOException {
        long sent = 0;
        int life = 1;
        try (BufferedReader lines =
                        Files.newBufferedReader(folder.resolve(KilledRun.MESSAGES), StandardCharsets.ISO_8859_1);
                Progress progress =
                        Progress.begin(caller, Progress.Mode.auto, "Sending", Progress.Unit.RECORDS, messages)) {
            for (byte[] body = body(lines); body.length > 0; body = body(lines)) {
                if (life < LIVES && sent >= messages / LIVES * life) {
                    kill();
                    Thread.sleep(GONE);
                    live();
                    life++;
                }
                sent = post(body, sent + 1);
                progress.at(sent, sent);
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /// Its totals beside those of the producer.
    Comparison compare(TradeRiskTotals right) {
        try (Engine engine = RemoteEngine.connect(folder.resolve(KilledRun.DATA))
                .orElseThrow(() -> new CommandFailure(ExitCode.DIFFERENT, "The service has ended by itself."))) {
            return new Comparison(engine.query(Query.all(Rollup.MAIN)), engine.counts(), right);
        }
    }

    /// One life of the process: it answers when this returns.
    private void live() throws IOException {
        process = new ProcessBuilder(KilledRun.command(
                        "serve", "--config", folder.resolve("serve.yaml").toString()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(folder.resolve("serve.log").toFile())
                .start();
        long deadline = System.nanoTime() + START_MAX.toNanos();
        while (!isReady()) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "The service did not start, and said:\n"
                                + Words.visible(Files.readString(folder.resolve("serve.log"))));
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }

    private boolean isReady() throws IOException {
        try {
            return connection("health/ready").getResponseCode() == HttpURLConnection.HTTP_OK;
        } catch (ConnectException notYet) {
            return false;
        }
    }

    private HttpURLConnection connection(String path) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) page().resolve(path).toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        return connection;
    }

    /// The last line that is safe.
    private long post(byte[] body, long from) throws IOException {
        HttpURLConnection connection = connection("v1/trade-risk/records?source=demo&from=" + from);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(body.length);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(body);
        }
        if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
            throw new IOException("The service answered with status " + connection.getResponseCode());
        }
        connection.getInputStream().readAllBytes();
        return from + lines(body) - 1;
    }

    private static long lines(byte[] body) {
        long lines = 0;
        for (byte each : body) {
            lines += each == '\n' ? 1 : 0;
        }
        return lines;
    }

    /// The next lines, byte for byte.
    private static byte[] body(BufferedReader lines) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int i = 0; i < LINES; i++) {
            String line = lines.readLine();
            if (line == null) {
                break;
            }
            body.writeBytes((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
        }
        return body.toByteArray();
    }

    private static CommandFailure interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new CommandFailure(ExitCode.INTERRUPTED, "The demo was interrupted.", e);
    }

    private void kill() {
        Process running = process;
        if (running != null) {
            running.destroyForcibly().onExit().join();
        }
    }

    @Override
    public void close() {
        kill();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // Then it runs, and kills what is dead already.
        }
    }
}
