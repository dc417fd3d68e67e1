package dev.onefold.server;

import dev.onefold.api.Failure;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/// A request and its answer, as Jetty has them. Not thread-safe.
record Exchange(Request request, Response response) {
    private static final int NOT_MODIFIED = 304;

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
        try {
            return dev.onefold.api.Request.of(
                    request.getMethod(), request.getHttpURI().getPathQuery(), content);
        } catch (IllegalArgumentException e) {
            throw refused(String.valueOf(e.getMessage()));
        }
    }

    /// A request that cannot be understood.
    Refusal refused(String detail) {
        return new Refusal(400, Failure.REQUEST, detail);
    }

    /// Sends an answer of the routes. A caller that has it already is told so.
    void send(dev.onefold.api.Response answer) throws IOException {
        Supplier<String> tag = answer.tag();
        if (tag != null) {
            String name = "W/\"" + tag.get() + "\"";
            response.getHeaders().put(HttpHeader.ETAG, name);
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-cache");
            if (isKnown(name)) {
                response.setStatus(NOT_MODIFIED);
                return;
            }
        }
        Refusal.send(response, answer);
    }

    private boolean isKnown(String tag) {
        List<String> known = header(HttpHeader.IF_NONE_MATCH)
                .map(all -> Arrays.asList(all.split("\\s*,\\s*")))
                .orElse(List.of());
        return known.contains(tag) || known.contains("*");
    }
}
