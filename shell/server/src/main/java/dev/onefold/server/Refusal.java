package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.jwt.Reason;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// The reason why nothing was done. Such an answer repeats nothing of the request.
final class Refusal extends Exception {
    private static final long serialVersionUID = 1;
    private static final int PAUSE_SECONDS = 1;
    private static final int BUFFER_BYTES = 32 << 10;

    private final transient Failure failure;
    private final @Nullable Reason reason;

    private Refusal(Failure failure, @Nullable Reason reason) {
        super(failure.detail());
        this.failure = failure;
        this.reason = reason;
    }

    Refusal(Failure failure) {
        this(failure, null);
    }

    Refusal(Reason reason) {
        this(reason.failure(), reason);
    }

    Refusal(int status, String kind, String detail) {
        this(new Failure(status, kind, detail));
    }

    int status() {
        return failure.status();
    }

    /// The fault of an issuer's token, if that is the reason for this refusal.
    Optional<Reason> reason() {
        return Optional.ofNullable(reason);
    }

    /// Answers with this refusal.
    void send(Response response, Callback callback) {
        try {
            if (failure.kind().equals(Failure.BUSY)) {
                response.getHeaders().put(HttpHeader.RETRY_AFTER, PAUSE_SECONDS);
            }
            send(response, failure.response());
            callback.succeeded();
        } catch (IOException e) {
            callback.failed(e);
        }
    }

    /// Sends an answer of the routes.
    static void send(Response response, dev.onefold.api.Response answer) throws IOException {
        head(response, answer);
        try (OutputStream out = new BufferedOutputStream(Content.Sink.asOutputStream(response), BUFFER_BYTES)) {
            answer.body().writeTo(out);
        }
    }

    /// Sets the status and the fields before the content.
    static void head(Response response, dev.onefold.api.Response answer) {
        response.setStatus(answer.status());
        answer.head().forEach((name, value) -> response.getHeaders().put(name, value));
    }
}
