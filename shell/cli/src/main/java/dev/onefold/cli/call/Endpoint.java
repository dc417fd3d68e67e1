package dev.onefold.cli.call;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// An address that stands in for a service of AWS. One at which nothing listens or answers is refused at once, because
/// requests to it would be repeated for minutes.
///
/// @param connectingMax for how long a connection is tried
/// @param answerMax for how long an answer is awaited, where there is no encryption
public record Endpoint(URI address, Duration connectingMax, Duration answerMax) {
    private static final Duration CONNECTING_MAX = Duration.ofSeconds(5);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final int PORT_MAX = 65_535;

    /// An address, with times that leave a slow server room.
    public Endpoint(URI address) {
        this(address, CONNECTING_MAX, ANSWER_MAX);
    }

    /// Whether an address has a host, and a port that there can be, or none.
    static boolean isPossible(URI address) {
        int port = address.getPort();
        return address.getHost() != null && (port == -1 || port >= 1 && port <= PORT_MAX);
    }

    /// Asks for anything.
    ///
    /// @throws CommandFailure if nothing listens, or what listens does not answer
    public void require(Caller caller) {
        if (!isPossible(address)) {
            throw CommandFailure.usage("'" + address + "' (an option, AWS_ENDPOINT_URL or one of its kind) has no host"
                    + " or no possible port. Write an address such as http://localhost:8000");
        }
        boolean encrypted = "https".equals(address.getScheme());
        int port = address.getPort() >= 0 ? address.getPort() : encrypted ? 443 : 80;
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address.getHost(), port), (int) connectingMax.toMillis());
            if (!encrypted) {
                requireAnswer(socket);
            }
        } catch (ConnectException e) {
            throw refusal("Nothing can be reached at " + address + ": " + e.getMessage(), e);
        } catch (UnknownHostException e) {
            return; // A proxy may know it. If not, the first request says so at once.
        } catch (IOException e) {
            caller.note(address + " cannot be reached directly (" + e + "). It is tried for about a minute.");
        }
    }

    /// Any answer will do, and so does the end of the connection: whether the service likes the request is not asked.
    private void requireAnswer(Socket socket) throws IOException {
        socket.setSoTimeout((int) answerMax.toMillis());
        String request = "GET / HTTP/1.1\r\nHost: " + address.getAuthority() + "\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        try {
            socket.getInputStream().read();
        } catch (SocketTimeoutException e) {
            throw refusal("What listens at " + address + " has not answered within " + answerMax.toMillis() + " ms", e);
        }
    }

    private static CommandFailure refusal(String what, IOException cause) {
        return new CommandFailure(
                ExitCode.DIRECTORY,
                what + "\nCorrect the address (options, or AWS_ENDPOINT_URL), or start the server that it names.",
                cause);
    }
}
