package dev.onefold.api;

import dev.onefold.api.reading.JsonReading;
import dev.onefold.core.EngineException;
import dev.onefold.core.document.Node;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Asks the process that owns a data directory, each request on a connection of its own. Any thread may call.
final class Client {
    private static final int PROBLEM_BYTES_MAX = 1 << 20;

    private final Path directory;
    private volatile String owner = ""; // Named by the first answer.
    private volatile boolean gone;
    private volatile boolean unknown;

    Client(Path directory) {
        this.directory = directory;
    }

    /// The kind of a request.
    enum Way {
        /// Reads.
        GET("GET"),

        /// Computes and changes nothing.
        COMPUTE("POST"),

        /// May change something.
        CHANGE("POST");

        private final String method;

        Way(String method) {
            this.method = method;
        }
    }

    /// Takes the content of an answer.
    interface Reader<T> {
        T read(InputStream content) throws IOException;
    }

    /// Whether the owner has ended, or stopped to listen, or has a successor.
    boolean isGone() {
        return gone;
    }

    /// Whether a request that may change something was sent, and its answer did not come.
    boolean isOutcomeUnknown() {
        return unknown;
    }

    /// A connection to the socket.
    ///
    /// @throws IOException if nobody listens
    static SocketChannel connect(Path directory) throws IOException {
        try (Address address = Address.of(directory)) {
            UnixDomainSocketAddress socket = address.socket();
            return SocketChannel.open(socket);
        }
    }

    /// Sends a request and reads its answer.
    ///
    /// @param content `null` for none
    /// @throws EngineException and any other exception that the engine has thrown; of kind STOPPED if the
    ///     owner has ended
    <T> T ask(Way way, String target, byte @Nullable [] content, Reader<T> reader) {
        boolean sent = false;
        try (SocketChannel channel = connect(directory)) {
            sent = true;
            InputStream in = new BufferedInputStream(Channels.newInputStream(channel));
            try {
                send(channel, way.method, target, content);
            } catch (IOException refused) {
                // The answer may be there although the content was not wanted.
            }
            Head head = Head.read(in);
            if (head == null) {
                throw new IOException("The connection was closed before the answer");
            }
            if (owner.isEmpty()) {
                owner = head.field(Api.OWNER_HEADER);
            }
            int status = Integer.parseInt(head.start().split(" ", 3)[1]);
            InputStream answer = head.body(in, true);
            if (status >= 400) {
                throw failure(head, answer.readNBytes(PROBLEM_BYTES_MAX));
            }
            return reader.read(answer);
        } catch (IOException e) {
            throw unanswered(sent && way == Way.CHANGE, e);
        }
    }

    /// @param outcomeUnknown whether a request was sent that may change something
    private EngineException unanswered(boolean outcomeUnknown, IOException e) {
        if (outcomeUnknown) {
            unknown = true;
        }
        String outcome = outcomeUnknown
                ? " It is unknown whether the change was made. Look with 'onefold status' or 'onefold dead-letters"
                        + " list', or run the command again."
                : "";
        if (Thread.currentThread().isInterrupted()) { // The interrupt closes the channel.
            return new EngineException(
                    EngineException.Kind.INTERRUPTED,
                    "The calling thread was interrupted before the process that owns data directory " + directory
                            + " had answered." + outcome,
                    e);
        }
        gone = true;
        return new EngineException(
                EngineException.Kind.STOPPED,
                "The process that owns data directory " + directory + " ended before it had answered, or it had"
                        + " waited for this command for more than "
                        + EngineSocket.Limits.USUAL.stall().toMinutes() + " minutes." + outcome,
                e);
    }

    private void send(SocketChannel channel, String method, String target, byte @Nullable [] content)
            throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel));
        String head = method + " " + target + " HTTP/1.1\r\nHost: onefold\r\n" + Api.VERSION_HEADER + ": "
                + Api.version() + "\r\n" + Api.LEVEL_HEADER + ": " + Api.LEVEL + "\r\nConnection: close\r\n"
                + (owner.isEmpty() ? "" : Api.OWNER_HEADER + ": " + owner + "\r\n")
                + (content == null ? "" : "Content-Length: " + content.length + "\r\n") + "\r\n";
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        if (content != null) {
            out.write(content);
        }
        out.flush();
    }

    private RuntimeException failure(Head head, byte[] content) {
        Node problem = JsonReading.parse(new String(content, StandardCharsets.UTF_8));
        String kind = problem.get("kind").text();
        if (kind.equals(Failure.NO_ROUTE)) {
            return new EngineException(
                    EngineException.Kind.FORMAT,
                    "Data directory " + directory + " is in use by Onefold " + head.field(Api.VERSION_HEADER)
                            + ", which cannot do this; Onefold " + Api.version() + " asked for it. Restart that process"
                            + " with this version. (" + problem.get("detail").text() + ")");
        }
        if (List.of(Failure.NO_ROW, Failure.NO_EDIT, Failure.NO_BATCH).contains(kind)) {
            return new Missing(problem.get("detail").text());
        }
        if (kind.equals(Failure.OWNER_CHANGED)) {
            gone = true;
        }
        int status = Integer.parseInt(problem.get("status").text());
        return new Failure(status, kind, problem.get("detail").text()).exception();
    }

    /// There is no such row, edit or batch.
    static final class Missing extends RuntimeException {
        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message, null, false, false);
        }
    }
}
