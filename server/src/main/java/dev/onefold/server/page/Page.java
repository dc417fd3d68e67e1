package dev.onefold.server.page;

import dev.onefold.server.page.PageFiles.PageFile;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/// Sends the live page. It needs no token, and holds nothing of any pipeline: the page asks the routes like every other
/// client. Any thread may call.
public final class Page {
    /// Scripts and styles come from this service alone, none stands in the page itself, and no text becomes a script.
    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types lit-html";

    private static final int NOT_MODIFIED = 304;

    private final PageFiles files;

    /// @throws IOException if a file of the page is missing
    public Page() throws IOException {
        files = PageFiles.read();
    }

    /// The file that a request asks for; empty if it asks for something else.
    public Optional<PageFile> find(String method, List<String> path) {
        return method.equals("GET") ? files.find(path) : Optional.empty();
    }

    /// Sends a file.
    public static void send(PageFile file, Request request, Response response) throws IOException {
        response.getHeaders()
                .put(HttpHeader.ETAG, file.tag())
                .put(HttpHeader.CACHE_CONTROL, file.isFixed() ? "public, max-age=31536000, immutable" : "no-cache")
                .put("Content-Security-Policy", POLICY)
                .put("Cross-Origin-Opener-Policy", "same-origin")
                .put("Cross-Origin-Resource-Policy", "same-origin")
                .put("Referrer-Policy", "no-referrer")
                .put("X-Content-Type-Options", "nosniff");
        String known = request.getHeaders().get(HttpHeader.IF_NONE_MATCH);
        if (known != null && Arrays.asList(known.split("\\s*,\\s*")).contains(file.tag())) {
            response.setStatus(NOT_MODIFIED);
            return;
        }
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, file.type());
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, file.bytes().length);
        try (OutputStream out = Content.Sink.asOutputStream(response)) {
            out.write(file.bytes());
        }
    }
}
