package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.net.URI;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Objects in memory, as much of S3 as is used: buckets with and without versions; put with a hash that is compared,
/// and only where nothing is if that is asked for; get, head, delete; lists. Any thread.
public final class ObjectServer implements AutoCloseable {
    static final String HASH = "x-amz-checksum-sha256";
    private static final String VERSION = "x-amz-version-id";

    private final Loopback server;
    private final Map<String, Bucket> buckets = new TreeMap<>();

    private ObjectServer() throws IOException {
        server = Loopback.open(this::handle);
    }

    /// Opens one with these buckets, all empty and without versions.
    public static ObjectServer open(String... buckets) throws IOException {
        ObjectServer objects = new ObjectServer();
        for (String bucket : buckets) {
            objects.buckets.put(bucket, new Bucket());
        }
        return objects;
    }

    /// All objects, by their buckets and keys: `/bucket/key`.
    public synchronized Map<String, byte[]> objects() {
        Map<String, byte[]> all = new TreeMap<>();
        buckets.forEach((name, bucket) -> bucket.objects().forEach(version -> {
            if (version.content() != null) {
                all.put("/" + name + "/" + version.key(), version.content());
            }
        }));
        return all;
    }

    /// Where it is.
    public URI uri() {
        return server.uri();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            ObjectAnswer answer;
            synchronized (this) {
                answer = answer(ObjectRequest.of(exchange, body));
            }
            answer.send(exchange);
        }
    }

    private ObjectAnswer answer(ObjectRequest asked) {
        if (!asked.isWhole()) {
            return ObjectAnswer.refused(
                    400, "BadDigest", "The checksum you specified did not match the calculated checksum.");
        }
        Optional<String> unknown = asked.unknown();
        if (unknown.isPresent()) {
            return ObjectAnswer.refused(
                    501, "NotImplemented", "The stand-in for S3 does not know '" + unknown.get() + "' of a request.");
        }
        if (asked.bucket().isEmpty()) {
            return BucketAnswers.list(buckets, asked.query("prefix").orElse(""));
        }
        if (asked.key().isEmpty() && asked.query().isEmpty() && asked.method().equals("PUT")) {
            return make(asked.bucket());
        }
        Bucket bucket = buckets.get(asked.bucket());
        if (bucket == null) {
            return ObjectAnswer.refused(404, "NoSuchBucket", "The specified bucket does not exist");
        }
        if (asked.key().isEmpty()) {
            return asked.method().equals("DELETE") && asked.query().isEmpty()
                    ? remove(asked.bucket(), bucket)
                    : BucketAnswers.of(bucket, asked);
        }
        return object(bucket, asked);
    }

    private ObjectAnswer make(String name) {
        if (!name.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
            return ObjectAnswer.refused(400, "InvalidBucketName", "The specified bucket is not valid.");
        }
        return buckets.putIfAbsent(name, new Bucket()) == null
                ? ObjectAnswer.done(200).with("Location", "/" + name)
                : ObjectAnswer.refused(
                        409,
                        "BucketAlreadyOwnedByYou",
                        "Your previous request to create the named bucket succeeded and you already own it.");
    }

    private ObjectAnswer remove(String name, Bucket bucket) {
        if (!bucket.isEmpty()) {
            return ObjectAnswer.refused(
                    409,
                    "BucketNotEmpty",
                    "The bucket you tried to delete is not empty"
                            + (bucket.isVersioned() ? ". You must delete all versions in the bucket." : ""));
        }
        buckets.remove(name);
        return ObjectAnswer.done(204);
    }

    private static ObjectAnswer object(Bucket bucket, ObjectRequest asked) {
        return switch (asked.method()) {
            case "PUT" -> put(bucket, asked);
            case "GET", "HEAD" -> get(bucket, asked);
            case "DELETE" -> delete(bucket, asked);
            default -> ObjectAnswer.refused(501, "NotImplemented", "Nobody asked for that yet.");
        };
    }

    private static ObjectAnswer put(Bucket bucket, ObjectRequest asked) {
        boolean onlyNew = asked.header("If-None-Match").equals("*");
        if (onlyNew && bucket.latest(asked.key()).isPresent()) {
            return ObjectAnswer.refused(412, "PreconditionFailed", "At least one of the preconditions did not hold.");
        }
        Bucket.Version put =
                bucket.put(asked.key(), asked.content(), !asked.header(HASH).isEmpty());
        return version(bucket, put, ObjectAnswer.done(200)).with("ETag", '"' + hash(asked.content()) + '"');
    }

    private static ObjectAnswer version(Bucket bucket, Bucket.Version version, ObjectAnswer answer) {
        return bucket.isVersioned() ? answer.with(VERSION, version.id()) : answer;
    }

    private static ObjectAnswer get(Bucket bucket, ObjectRequest asked) {
        Optional<Bucket.Version> found = asked.query("versionId")
                .map(id -> bucket.version(asked.key(), id))
                .orElseGet(() -> bucket.latest(asked.key()));
        byte[] content = found.map(Bucket.Version::content).orElse(null);
        if (found.isEmpty() || content == null) {
            return ObjectAnswer.refused(404, "NoSuchKey", "The specified key does not exist.");
        }
        ObjectAnswer answer =
                version(bucket, found.get(), new ObjectAnswer(200, Map.of(), "binary/octet-stream", content));
        // The store knows a hash only if it came with the object, and tells it only if it is asked.
        return found.get().hashed() && asked.header("x-amz-checksum-mode").equals("ENABLED")
                ? answer.with(HASH, hash(content))
                : answer;
    }

    private static ObjectAnswer delete(Bucket bucket, ObjectRequest asked) {
        ObjectAnswer done = ObjectAnswer.done(204);
        Optional<String> id = asked.query("versionId");
        if (id.isPresent()) {
            boolean marker = bucket.deleteVersion(asked.key(), id.get())
                    .map(Bucket.Version::isMarker)
                    .orElse(false);
            return marker ? done.with("x-amz-delete-marker", "true") : done;
        }
        return bucket.delete(asked.key())
                .map(marker -> version(bucket, marker, done).with("x-amz-delete-marker", "true"))
                .orElse(done);
    }

    static String hash(byte[] bytes) {
        return Base64.getEncoder().encodeToString(Sha256.of(bytes));
    }

    @Override
    public void close() {
        server.close();
    }
}
