package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.body.EntityTags;
import dev.onefold.server.flow.Sending;
import dev.onefold.server.flow.Spool;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;

/// A request and its answer, as Jetty has them. A usual answer is made whole before it is sent, so that a slow reader
/// holds nothing of the engine. Not thread-safe.
final class Exchange {
    private static final int NOT_MODIFIED = 304;

    private final Request request;
    private final Response response;
    private final Spool.Memory memory;
    private final Duration stretchMax;
    private @Nullable Spool spool; // An answer that is whole and not sent.

    /// @param stretchMax time for a reader to take a stretch of the answer
    Exchange(Request request, Response response, Spool.Memory memory, Duration stretchMax) {
        this.request = request;
        this.response = response;
        this.memory = memory;
        this.stretchMax = stretchMax;
    }

    Request request() {
        return request;
    }

    Response response() {
        return response;
    }

    /// A field of the request's head; empty if it is not there.
    Optional<String> header(HttpHeader name) {
        return header(name.asString());
    }

    /// A field of the request's head; empty if it is not there.
    Optional<String> header(String name) {
        return Optional.ofNullable(request.getHeaders().get(name));
    }

    /// The request as the routes take it.
    dev.onefold.api.Request asked(byte[] content) throws Refusal {
        String target = request.getHttpURI().getPathQuery();
        if (target == null) {
            throw refused("The request has no path, as " + request.getMethod() + " to a host has none.");
        }
        try {
            return dev.onefold.api.Request.of(request.getMethod(), target, content);
        } catch (IllegalArgumentException e) {
            throw refused(String.valueOf(e.getMessage()));
        }
    }

    /// A request that cannot be understood.
    Refusal refused(String detail) {
        return new Refusal(400, Failure.REQUEST, detail);
    }

    /// Takes an answer of the routes, to be sent by [#finish]; a large one is sent now. A caller that has it already is
    /// told so.
    void send(dev.onefold.api.Response answer) throws IOException {
        Supplier<String> tag = answer.tag();
        if (tag != null) {
            String name = EntityTags.weak(tag.get());
            response.getHeaders().put(HttpHeader.ETAG, name);
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-cache");
            if (EntityTags.isKnown(request.getHeaders().get(HttpHeader.IF_NONE_MATCH), name)) {
                response.setStatus(NOT_MODIFIED);
                return;
            }
        }
        Refusal.head(response, answer);
        Spool made = new Spool(memory, () -> new Sending(response, stretchMax));
        spool = made;
        answer.body().writeTo(made);
    }

    /// Sends what is left of the answer.
    void finish() throws IOException {
        Spool made = spool;
        if (made != null) {
            made.length().ifPresent(length -> response.getHeaders().put(HttpHeader.CONTENT_LENGTH, length));
            made.close();
        }
    }

    /// Releases the memory of an answer, whether it was sent or not.
    void release() {
        if (spool != null) {
            spool.release();
        }
    }
}
