package dev.onefold.local.server;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// An HTTP server on a free port of the loopback interface. Each request has a thread of its own.
public final class Loopback implements AutoCloseable {
    private static final int WAITING_MAX = 1_000;

    static {
        // Without it the last part of each answer waits 40 ms for an acknowledgement. Read once, by the first server.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private Loopback(HttpServer server) {
        this.server = server;
    }

    /// Opens a server that has one handler.
    public static Loopback open(HttpHandler handler) throws IOException {
        Loopback loopback = new Loopback(
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), WAITING_MAX));
        loopback.server.createContext("/", handler);
        loopback.server.setExecutor(loopback.threads);
        loopback.server.start();
        return loopback;
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /// Where it is.
    public URI uri() {
        return URI.create("http://127.0.0.1:" + port());
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
