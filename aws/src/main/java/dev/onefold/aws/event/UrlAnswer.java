package dev.onefold.aws.event;

import dev.onefold.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/// A function's answer to a request to its URL.
///
/// @param status of HTTP
/// @param body at most [#BODY_BYTES_MAX] bytes
public record UrlAnswer(int status, Map<String, String> headers, byte[] body) {
    /// Lambda takes 6 MB from a function. The content goes as base64, which is a third longer, with the head beside it.
    public static final int BODY_BYTES_MAX = 4_600_000;

    public UrlAnswer {
        headers = Map.copyOf(headers);
        if (body.length > BODY_BYTES_MAX) {
            throw new IllegalArgumentException("An answer of " + body.length + " bytes does not fit");
        }
    }

    /// As Lambda takes it.
    public byte[] json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("statusCode", status);
        json.put("headers", headers);
        json.put("isBase64Encoded", true);
        json.put("body", Base64.getEncoder().encodeToString(body));
        return Json.of(json).getBytes(StandardCharsets.US_ASCII);
    }
}
