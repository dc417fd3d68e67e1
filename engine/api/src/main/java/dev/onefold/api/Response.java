package dev.onefold.api;

import dev.onefold.core.json.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The answer to a request.
///
/// @param status status code of HTTP
/// @param body writes the content; it may be large
/// @param tag computes the entity tag, which changes when anything but the time of the answer changes; `null` if
///     the answer has none
/// @param challenge the fault of the request's token, as in the field `WWW-Authenticate`; `null` without a fault
public record Response(
        int status,
        String contentType,
        Body body,
        @Nullable Supplier<String> tag,
        @Nullable String challenge) {
    /// An answer without a challenge.
    Response(int status, String contentType, Body body, Supplier<String> tag) {
        this(status, contentType, body, tag, null);
    }

    /// An answer without a tag.
    public Response(int status, String contentType, Body body) {
        this(status, contentType, body, null, null);
    }

    private static final int PAUSE_SECONDS = 1;

    /// The time that a caller waits between two looks where changes are not sent as a stream.
    private static final int POLL_SECONDS = 5;

    public static final String JSON = "application/json";
    static final String CSV = "text/csv; charset=utf-8";
    static final String BYTES = "application/octet-stream";

    /// The content of an answer.
    public interface Body {
        void writeTo(OutputStream out) throws IOException;
    }

    /// The fields of the head, without those that tell this answer from others.
    public Map<String, String> head() {
        Map<String, String> head = new LinkedHashMap<>();
        head.put("Content-Type", contentType);
        head.put("X-Content-Type-Options", "nosniff");
        head.put("Cross-Origin-Resource-Policy", "same-origin");
        switch (status) {
            case 401 -> head.put("WWW-Authenticate", challenge == null ? "Bearer" : "Bearer " + challenge);
            case 429, 503 -> head.put("Retry-After", String.valueOf(PAUSE_SECONDS));
            case 406 -> head.put("Retry-After", String.valueOf(POLL_SECONDS));
            default -> {
                // There are no more fields.
            }
        }
        return head;
    }

    /// A JSON value on a line.
    public static Response json(Object value) {
        return new Response(200, JSON, out -> out.write((Json.of(value) + "\n").getBytes(StandardCharsets.UTF_8)));
    }

    /// Bytes as they are.
    static Response bytes(byte[] bytes) {
        return new Response(200, BYTES, out -> out.write(bytes));
    }
}
