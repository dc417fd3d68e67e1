package dev.onefold.benchmark;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.server.HttpService;
import dev.onefold.server.Served;
import dev.onefold.server.Settings.Limits;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// A service in a process of its own, and what that process has used.
final class Service implements AutoCloseable {
    /// Records of this pipeline are in as many groups as there are keys.
    static final Pipeline MANY = PipelineBuilder.named("many")
            .key("id")
            .version("v")
            .rollup(rollup ->
                    rollup.levels("area", "place").sum("value", "value", 18, 2).count("n"))
            .build();

    private final Process process;
    private final URI uri;

    private Service(Process process, URI uri) {
        this.process = process;
        this.uri = uri;
    }

    /// Waits until a process serves, which [#serve] runs in.
    static Service in(Process process) throws IOException {
        BufferedReader out = process.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith("http://")) {
                Thread.ofPlatform().daemon().start(() -> out.lines().forEach(System.err::println));
                return new Service(process, URI.create(line));
            }
            System.err.println(line);
        }
        throw new IOException("The service does not start");
    }

    /// Serves until standard input ends.
    static void serve(Path directory) throws IOException {
        Settings settings = Settings.defaults().withStateBytesMax(1L << 30);
        try (EmbeddedEngine trades = EmbeddedEngine.open(directory.resolve("trades"), EngineRun.pipeline(), settings);
                EmbeddedEngine many = EmbeddedEngine.open(directory.resolve("many"), MANY, settings);
                HttpService service = HttpService.open(
                        new dev.onefold.server.Settings(InetAddress.getLoopbackAddress(), 0, null, null, Limits.USUAL),
                        List.of(Served.of(trades, null), Served.of(many, null)))) {
            System.out.println(service.uri());
            while (System.in.read() >= 0) {
                // Nothing is asked for by this way.
            }
        }
    }

    URI uri() {
        return uri;
    }

    /// Processor time that it has used.
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /// Memory of its own, heap and off the heap; 0 where /proc does not say.
    long residentBytes() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        return Files.exists(status)
                ? Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("RssAnon:"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                        .findFirst()
                        .orElse(0)
                : 0;
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
