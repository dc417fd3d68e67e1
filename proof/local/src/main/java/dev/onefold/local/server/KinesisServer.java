package dev.onefold.local.server;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A Kinesis server in a process of its own, in memory: the npm package kinesalite.
public final class KinesisServer implements AutoCloseable {
    private static final String LISTENING = "listening ";
    private static final int SECONDS_MAX = 60;

    private final Child child;
    private final URI uri;

    private KinesisServer(Child child, URI uri) {
        this.child = child;
        this.uri = uri;
    }

    /// Opens one without streams.
    ///
    /// @param folder where its program is, or is put at first use
    /// @throws IllegalStateException saying what is missing on this machine, and what to do
    public static KinesisServer open(Path folder) throws IOException {
        NodeParts.install(folder);
        ProcessBuilder builder = new ProcessBuilder("node", NodeParts.SCRIPT).directory(folder.toFile());
        CompletableFuture<Integer> port = new CompletableFuture<>();
        Child child = Child.start(builder, line -> {
            if (line.startsWith(LISTENING)) {
                port.complete(Integer.parseInt(line.substring(LISTENING.length())));
            }
        });
        var _ = child.process()
                .onExit()
                .thenAccept(ended ->
                        port.completeExceptionally(new IOException("It ended with exit code " + ended.exitValue())));
        try {
            return new KinesisServer(child, URI.create("http://127.0.0.1:" + port.get(SECONDS_MAX, TimeUnit.SECONDS)));
        } catch (ExecutionException | TimeoutException e) {
            child.close();
            throw new IOException("The Kinesis server does not start (" + e.getMessage() + "):\n" + child.said(), e);
        } catch (InterruptedException e) {
            child.close();
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while the Kinesis server was starting", e);
        }
    }

    /// Where it is.
    public URI uri() {
        return uri;
    }

    @Override
    public void close() {
        child.close();
    }
}
