package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.body.EntityTags;
import dev.onefold.server.flow.AnswerContent;
import dev.onefold.server.flow.Spool;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;

/// A request and its answer, as Jetty has them. A usual answer is made whole before it is sent, so that a slow
/// reader holds nothing of the engine. Not thread-safe.
final class Exchange implements Makers.Reader {
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

    /// Takes a short answer of the routes, to be sent by [#finish].
    void send(dev.onefold.api.Response answer) throws IOException {
        Refusal.head(response, answer);
        Spool made = new Spool(memory, () -> new AnswerContent(response, stretchMax));
        spool = made;
        answer.body().writeTo(made);
    }

    /// Sends an answer that was made for all who asked for it. If the caller has it already, the answer says
    /// only that.
    void send(Makers.Made made) throws IOException {
        if (made.isSent()) {
            return;
        }
        String tag = made.tag();
        if (tag != null && has(tag)) {
            headWithTag(tag);
            response.setStatus(NOT_MODIFIED);
            return;
        }
        OutputStream out = open(made.answer(), tag);
        made.content().length().ifPresent(length -> response.getHeaders().put(HttpHeader.CONTENT_LENGTH, length));
        made.content().writeTo(out);
        out.close();
    }

    @Override
    public boolean has(String tag) {
        return EntityTags.isKnown(request.getHeaders().get(HttpHeader.IF_NONE_MATCH), EntityTags.weak(tag));
    }

    @Override
    public OutputStream open(dev.onefold.api.Response answer, @Nullable String tag) {
        Refusal.head(response, answer);
        if (tag != null) {
            headWithTag(tag);
        }
        return new AnswerContent(response, stretchMax);
    }

    private void headWithTag(String tag) {
        response.getHeaders().put(HttpHeader.ETAG, EntityTags.weak(tag));
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-cache");
    }

    /// Sends the rest of the answer.
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
