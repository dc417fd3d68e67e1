package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.core.bytes.Utf8;
import java.io.IOException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A request to a function URL, as Lambda hands it over (payload format 2.0).
///
/// @param method such as `GET`
/// @param target path and query, as the caller has encoded them
/// @param headers by their names in lower case; values of one name are joined with commas
/// @param isSigned whether Lambda has checked the caller's signature (AWS_IAM)
public record UrlRequest(String method, String target, Map<String, String> headers, byte[] body, boolean isSigned) {
    /// Names of a caller, of which Lambda gives some with each request that is signed.
    private static final Set<String> CALLER = Set.of("accessKey", "accountId", "callerId", "userArn", "userId");

    public UrlRequest {
        headers = Map.copyOf(headers);
    }

    /// Reads an event.
    ///
    /// @throws IllegalArgumentException if it is no such request; the message holds nothing of its content
    public static UrlRequest read(byte[] event) {
        if (event.length > Invocation.EVENT_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "The request has more than the " + Invocation.EVENT_BYTES_MAX + " bytes that Lambda takes");
        }
        try (JsonParser parser = EventJson.FACTORY.createParser(event)) {
            return new Reader(parser).read();
        } catch (IOException broken) {
            throw new IllegalArgumentException("The request is no event of a function URL", broken);
        }
    }

    /// A field of the head; empty if it is not there.
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
    }

    private static final class Reader {
        private final JsonParser parser;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private String method = "";
        private String path = "";
        private String query = "";
        private @Nullable String body;
        private boolean isBase64;
        private boolean isSigned;

        Reader(JsonParser parser) {
            this.parser = parser;
        }

        UrlRequest read() throws IOException {
            parser.nextToken();
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                switch (name) {
                    case "rawPath" -> path = text();
                    case "rawQueryString" -> query = text();
                    case "headers" -> readHeaders();
                    case "requestContext" -> readContext();
                    case "body" -> body = EventJson.text(parser);
                    case "isBase64Encoded" -> isBase64 = parser.currentToken() == JsonToken.VALUE_TRUE;
                    default -> parser.skipChildren();
                }
            }
            if (parser.nextToken() != null) {
                throw EventJson.broken(parser, "something follows the event");
            }
            if (method.isEmpty() || !path.startsWith("/")) {
                throw EventJson.broken(parser, "it has no method or no path");
            }
            String target = path.replace("?", "%3F") + (query.isEmpty() ? "" : "?" + query);
            return new UrlRequest(method, inAscii(target), headers, content(), isSigned);
        }

        private String text() throws IOException {
            String text = EventJson.text(parser);
            return text == null ? "" : text;
        }

        private void readHeaders() throws IOException {
            if (isNull()) {
                return;
            }
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                headers.merge(name.toLowerCase(Locale.ROOT), text(), (one, other) -> one + "," + other);
            }
        }

        private boolean isNull() {
            return parser.currentToken() == JsonToken.VALUE_NULL;
        }

        private void readContext() throws IOException {
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                switch (name) {
                    case "http" -> readHttp();
                    case "authorizer" -> isSigned = readsCaller();
                    default -> parser.skipChildren();
                }
            }
        }

        private void readHttp() throws IOException {
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                if (name.equals("method")) {
                    method = text();
                } else {
                    parser.skipChildren();
                }
            }
        }

        private boolean readsCaller() throws IOException {
            boolean isNamed = false;
            if (isNull()) {
                return false;
            }
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                if (name.equals("iam") && parser.currentToken() == JsonToken.START_OBJECT) {
                    isNamed |= readsIam();
                } else {
                    parser.skipChildren();
                }
            }
            return isNamed;
        }

        private boolean readsIam() throws IOException {
            boolean isNamed = false;
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                if (CALLER.contains(name) && parser.currentToken() == JsonToken.VALUE_STRING) {
                    isNamed |= !text().isEmpty();
                } else {
                    parser.skipChildren();
                }
            }
            return isNamed;
        }

        private byte[] content() {
            if (body == null) {
                return new byte[0];
            }
            return isBase64 ? Base64.getDecoder().decode(body) : Utf8.encode("The content", body);
        }

        /// A character that the caller should have encoded is taken for itself.
        private static String inAscii(String target) {
            if (target.chars().allMatch(c -> c < 0x80)) {
                return target;
            }
            StringBuilder ascii = new StringBuilder(target.length());
            for (byte octet : Utf8.encode("The path of the request", target)) {
                if (octet < 0) {
                    ascii.append('%').append(String.format(Locale.ROOT, "%02X", octet));
                } else {
                    ascii.append((char) octet);
                }
            }
            return ascii.toString();
        }
    }
}
