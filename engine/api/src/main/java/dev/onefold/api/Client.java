package dev.onefold.api;

import dev.onefold.api.reading.JsonReader;
import dev.onefold.core.EngineException;
import dev.onefold.core.document.Node;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Asks an engine in another process. Any thread may call.
final class Client {
    private static final int PROBLEM_BYTES_MAX = 1 << 20;
    private static final int ERROR_STATUS_MIN = 400;

    private static final String OUTCOME_UNKNOWN =
            " It is unknown whether the change was made. Look with 'onefold status' or 'onefold dead-letters list', or"
                    + " run the command again.";

    private final Transport transport;
    private volatile String owner = ""; // Named by the first answer.
    private volatile boolean gone;
    private volatile boolean unknown;

    Client(Transport transport) {
        this.transport = transport;
    }

    /// The kind of a request.
    enum Way {
        /// Reads.
        GET("GET"),

        /// Computes and changes nothing.
        COMPUTE("POST"),

        /// Says that the caller still works, and is said again: without an answer it shows nothing of the
        /// owner.
        RENEW("POST"),

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

    /// Sends a request and reads its answer.
    ///
    /// @param content `null` for none
    /// @throws EngineException and any other exception that the engine has thrown; of kind STOPPED if the
    ///     owner has ended
    <T> T ask(Way way, String target, byte @Nullable [] content, Reader<T> reader) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(Api.VERSION_HEADER, Api.version());
        fields.put(Api.LEVEL_HEADER, String.valueOf(Api.LEVEL));
        if (!owner.isEmpty()) {
            fields.put(Api.OWNER_HEADER, owner);
        }
        try {
            return transport.exchange(new Transport.Asked(way.method, target, fields, content), answer -> {
                if (owner.isEmpty()) {
                    owner = answer.field().apply(Api.OWNER_HEADER);
                }
                if (answer.status() >= ERROR_STATUS_MIN) {
                    throw failure(way, answer);
                }
                return read(way, answer, reader);
            });
        } catch (IOException e) {
            throw unanswered(way, way == Way.CHANGE && !(e instanceof Transport.Unreached), e);
        }
    }

    /// An answer to a change that cannot be read does not say whether the change was made.
    private <T> T read(Way way, Transport.Answered answer, Reader<T> reader) throws IOException {
        try {
            return reader.read(answer.content());
        } catch (IllegalStateException | IllegalArgumentException e) {
            if (way != Way.CHANGE) {
                throw e;
            }
            unknown = true;
            throw new EngineException(
                    EngineException.Kind.FORMAT,
                    "An answer of " + transport.place() + " does not say what was done: " + e.getMessage() + "."
                            + OUTCOME_UNKNOWN,
                    e);
        }
    }

    /// @param outcomeUnknown whether a request was sent that may change something
    private EngineException unanswered(Way way, boolean outcomeUnknown, IOException e) {
        if (outcomeUnknown) {
            unknown = true;
        }
        String outcome = outcomeUnknown ? OUTCOME_UNKNOWN : "";
        if (Thread.currentThread().isInterrupted()) { // The interrupt closes the channel.
            return new EngineException(
                    EngineException.Kind.INTERRUPTED,
                    "The calling thread was interrupted before " + transport.place() + " had answered." + outcome,
                    e);
        }
        gone |= way != Way.RENEW;
        return transport.unanswered(e, outcome);
    }

    private RuntimeException failure(Way way, Transport.Answered answer) throws IOException {
        Failure failure = read(way, answer, content -> {
            Node problem = JsonReader.parse(new String(content.readNBytes(PROBLEM_BYTES_MAX), StandardCharsets.UTF_8));
            return new Failure(
                    answer.status(),
                    problem.get("kind").text(),
                    problem.get("detail").text());
        });
        String kind = failure.kind();
        String detail = failure.detail();
        if (kind.equals(Failure.NO_ROUTE)) {
            return transport.notOffered(answer.field().apply(Api.VERSION_HEADER), detail);
        }
        if (kind.equals(Failure.NOT_ALLOWED)) {
            return transport.notAllowed(answer.status(), detail);
        }
        if (List.of(Failure.NO_ROW, Failure.NO_EDIT, Failure.NO_BATCH).contains(kind)) {
            return new Missing(detail);
        }
        if (kind.equals(Failure.OWNER_CHANGED)) {
            gone = true;
        }
        return failure.exception();
    }

    /// Releases what the way to the engine holds.
    void close() {
        transport.close();
    }

    /// There is no such row, edit or batch.
    static final class Missing extends RuntimeException {
        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message, null, false, false);
        }
    }
}
