package dev.onefold.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// A service in a process of its own, which can be killed.
final class ServiceProcess implements AutoCloseable {
    private final Process process;
    private final URI uri;

    private ServiceProcess(Process process, URI uri) {
        this.process = process;
        this.uri = uri;
    }

    static ServiceProcess start(Path directory) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServiceProcess.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader out = process.inputReader();
        String at = out.readLine();
        if (at == null) {
            throw new IOException("The service does not start");
        }
        return new ServiceProcess(process, URI.create(at));
    }

    /// The process itself: serves until it is killed.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (RunningService service = new RunningService(Path.of(arguments[0]))) {
            System.out.println(service.service.uri());
            Thread.currentThread().join();
        }
    }

    URI uri() {
        return uri;
    }

    /// SIGKILL. May be called twice.
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        kill();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IOException("The service does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
