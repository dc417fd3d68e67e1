package dev.onefold.local.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/// DynamoDB Local with its streams, in memory, in this process. It listens on all interfaces: it cannot do otherwise.
public final class DynamoDbServer implements AutoCloseable {
    /// What it calls the region of all that it has, whatever region it is asked in. It knows no other.
    public static final String REGION = "ddblocal";

    private final DynamoDBProxyServer server;
    private final URI uri;

    private DynamoDbServer(DynamoDBProxyServer server, URI uri) {
        this.server = server;
        this.uri = uri;
    }

    /// Opens an empty one.
    public static DynamoDbServer open() throws IOException {
        int port = freePort();
        String[] arguments = {"-inMemory", "-sharedDb", "-disableTelemetry", "-port", String.valueOf(port)};
        try {
            DynamoDBProxyServer server = ServerRunner.createServerFromCommandLineArgs(arguments);
            server.start();
            return new DynamoDbServer(server, URI.create("http://127.0.0.1:" + port));
        } catch (Exception e) { // It declares no other.
            throw new IOException("DynamoDB Local does not start at port " + port + ": " + e.getMessage(), e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /// Where it is, streams and all.
    public URI uri() {
        return uri;
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) { // It declares no other.
            throw new IllegalStateException("DynamoDB Local does not stop", e);
        }
    }
}
