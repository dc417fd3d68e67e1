package dev.onefold.server.page;

import dev.onefold.api.body.EntityTags;
import dev.onefold.api.page.PageFiles;
import dev.onefold.api.page.PageFiles.PageFile;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/// Sends the live page. It needs no token, and holds nothing of any pipeline: the page asks the routes like every other
/// client. Any thread may call.
public final class Page {
    private static final int NOT_MODIFIED = 304;

    private final PageFiles files;

    /// @throws IOException if a file of the page is missing
    public Page() throws IOException {
        files = PageFiles.read();
    }

    /// The file that a request asks for; empty if it asks for something else.
    public Optional<PageFile> find(String method, List<String> path) {
        return method.equals("GET") || method.equals("HEAD") ? files.find(path) : Optional.empty();
    }

    /// Sends a file.
    public static void send(PageFile file, Request request, Response response) throws IOException {
        file.headers().forEach((name, value) -> response.getHeaders().put(name, value));
        if (EntityTags.isKnown(request.getHeaders().get(HttpHeader.IF_NONE_MATCH), file.tag())) {
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
