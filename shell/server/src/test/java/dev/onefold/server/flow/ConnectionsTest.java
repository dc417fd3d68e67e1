package dev.onefold.server.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionsTest {
    private static final int COUNT_MAX = 8;
    private static final byte[] CLOSING =
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static Socket connect(ServerConnector connector) throws Exception {
        return new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort());
    }

    private static boolean isEnded(Socket socket) {
        try {
            socket.setSoTimeout(1);
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException open) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    private static void ask(Socket socket) throws Exception {
        socket.getOutputStream().write(CLOSING);
        assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void a_connection_that_ended_takes_no_place_and_one_too_many_ends_the_longest_silent_one() throws Exception {
        Connections connections = new Connections(COUNT_MAX, Set.of());
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.addBean(connections);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                connections.count(request);
                response.setStatus(200);
                callback.succeeded();
                return true;
            }
        });
        server.start();
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 5 * COUNT_MAX; i++) {
                try (Socket socket = connect(connector)) {
                    ask(socket);
                }
            }
            while (connections.count() > 0) {
                Thread.onSpinWait(); // Until Jetty has seen the last end.
            }
            for (int i = 0; i < 3 * COUNT_MAX; i++) {
                silent.add(connect(connector));
            }
            while (silent.stream().filter(ConnectionsTest::isEnded).count() < silent.size() - COUNT_MAX / 2) {
                Thread.onSpinWait(); // Until all of them have been seen: one that comes later ends another one.
            }
            try (Socket socket = connect(connector)) {
                ask(socket);
            }
            assertThat(connections.count()).isLessThanOrEqualTo(COUNT_MAX / 2);
        } finally {
            for (Socket each : silent) {
                each.close();
            }
            server.stop();
        }
    }
}
