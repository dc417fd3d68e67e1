package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Connections share no memory into which requests are read.
@Timeout(300)
class InputBuffersTest {
    private static final int CLIENTS = 4; // As many changes as a service of tests makes at a time.
    private static final byte[] BAD =
            bytes("GET / HTQP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n" + "[".repeat(50_000));

    @Test
    void a_buffer_that_a_connection_gave_back_is_not_given_to_another() throws Exception {
        Settings settings = new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS);
        try (ServerConnector connector = HttpService.connector(new Server(), settings)) {
            assertThat(input(connector)).isNotSameAs(input(connector));
        }
    }

    /// Where a connection of HTTP/1.1 would read to; it is given back.
    private static ByteBuffer input(ServerConnector connector) {
        HttpConnectionFactory http = connector.getConnectionFactory(HttpConnectionFactory.class);
        RetainableByteBuffer buffer = connector
                .getByteBufferPool()
                .acquire(http.getInputBufferSize(), http.getHttpConfiguration().isUseInputDirectByteBuffers());
        ByteBuffer bytes = buffer.getByteBuffer();
        buffer.release();
        return bytes;
    }

    @Test
    @Tag("campaign")
    void a_request_that_cannot_be_parsed_changes_nothing_on_other_connections(@TempDir Path directory)
            throws Exception {
        try (RunningService on = new RunningService(directory);
                ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                String name = "client" + i;
                all.add(clients.submit(() -> {
                    askBesideBadRequests(on, name);
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    private static void askBesideBadRequests(RunningService on, String name) throws IOException {
        try (Socket socket = on.connect()) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (int i = 0; i < 10_000; i++) {
                try {
                    on.raw(BAD);
                } catch (IOException closed) {
                    // The service had refused it before it had the whole.
                }
                String path = "/" + name + "/" + i;
                String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n";
                socket.getOutputStream().write(bytes(head + "{}"));
                String line = in.readLine();
                while (line != null && !line.startsWith("{")) {
                    line = in.readLine();
                }
                assertThat(line).contains("There is no POST " + path + ".");
            }
        }
    }
}
