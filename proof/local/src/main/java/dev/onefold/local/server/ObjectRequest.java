package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A request to the object server.
///
/// @param bucket empty for all of them
/// @param key empty for the bucket itself
/// @param query its names and values; the SDK's own names of operations are left out
/// @param headers by their names in small letters; those that come behind a body, too
record ObjectRequest(
        String method,
        String bucket,
        String key,
        Map<String, String> query,
        Map<String, String> headers,
        byte[] content) {
    private static final Set<String> OF_BUCKETS = Set.of(
            "versioning",
            "versions",
            "delete",
            "tagging",
            "list-type",
            "prefix",
            "max-keys",
            "key-marker",
            "version-id-marker",
            "continuation-token",
            "start-after",
            "encoding-type");
    private static final Set<String> OF_OBJECTS = Set.of("versionId");

    static ObjectRequest of(HttpExchange exchange, byte[] body) {
        Map<String, String> headers = new TreeMap<>();
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
        byte[] content = body;
        if (headers.getOrDefault("x-amz-content-sha256", "").startsWith("STREAMING-")) {
            Chunked chunked = Chunked.read(body);
            content = chunked.content();
            headers.putAll(chunked.trailers());
        }
        String path = exchange.getRequestURI().getPath().substring(1);
        int slash = path.indexOf('/');
        return new ObjectRequest(
                exchange.getRequestMethod(),
                slash < 0 ? path : path.substring(0, slash),
                slash < 0 ? "" : path.substring(slash + 1),
                parsed(exchange.getRequestURI().getRawQuery()),
                headers,
                content);
    }

    private static Map<String, String> parsed(@Nullable String raw) {
        Map<String, String> query = new TreeMap<>();
        if (raw != null) {
            for (String part : raw.split("&", -1)) {
                String[] sides = part.split("=", 2);
                query.put(decoded(sides[0]), sides.length == 1 ? "" : decoded(sides[1]));
            }
        }
        query.remove("x-id");
        return query;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    Optional<String> query(String name) {
        return Optional.ofNullable(query.get(name));
    }

    int number(String name, int byDefault) {
        return query(name).map(Integer::parseInt).orElse(byDefault);
    }

    String header(String name) {
        return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }

    /// What it asks for that is not known here.
    Optional<String> unknown() {
        Set<String> known = key.isEmpty() ? OF_BUCKETS : OF_OBJECTS;
        return query.keySet().stream().filter(name -> !known.contains(name)).findFirst();
    }

    /// Whether its content is what its sender says.
    boolean isWhole() {
        String hash = header(ObjectServer.HASH);
        Optional<String> crc = Optional.of(header("x-amz-checksum-crc32")).filter(sum -> !sum.isEmpty());
        return (hash.isEmpty() || hash.equals(ObjectServer.hash(content))) && Chunked.isWhole(content, crc);
    }
}
