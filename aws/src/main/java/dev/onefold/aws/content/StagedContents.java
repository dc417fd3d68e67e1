package dev.onefold.aws.content;

import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Compression;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Contents of batches as objects in the bucket of the stack, each written before the first attempt: for a
/// receiver that reads the object itself, and for one that gets it compressed. (What is compressed again after an
/// update of the runtime may have other bytes.) An object is named by its batch and its SHA-256, so whoever
/// writes it writes the same. Any thread.
public final class StagedContents {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final Duration PUT_MAX = Duration.ofMinutes(5);
    private static final ExecutorService READERS = Executors.newVirtualThreadPerTaskExecutor();

    private final Store store;
    private final Destination destination;

    public StagedContents(Store store, Destination destination) {
        this.store = store;
        this.destination = destination;
    }

    /// Whether contents have objects of their own. A direct record goes to its function as it is.
    public static boolean isNeeded(Batching batching) {
        Destination destination = batching.deliver();
        return !batching.direct()
                && (destination.kind() == Kind.LAMBDA || destination.compression() != Compression.NONE);
    }

    /// The hash, the size and the place of a content.
    ///
    /// @param object name of the object that it was written to; empty if there is none
    public record Hashed(String sha256, long bytes, String object) {}

    /// Reads a content.
    public static Hashed hash(InputStream content) {
        MessageDigest digest = Sha256.digest();
        long bytes = 0;
        byte[] buffer = new byte[BUFFER_BYTES];
        try (content) {
            for (int count = content.read(buffer, 0, buffer.length);
                    count >= 0;
                    count = content.read(buffer, 0, buffer.length)) {
                digest.update(buffer, 0, count);
                bytes += count;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Hashed(HexFormat.of().formatHex(digest.digest()), bytes, "");
    }

    /// Writes the object of a content. It is durable when this returns.
    ///
    /// @param lines of the content, before compression; each call opens them again
    public Hashed stage(BatchNumber number, Supplier<InputStream> lines) {
        Hashed hashed = hash(delivered(lines.get()));
        String hash = Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hashed.sha256));
        store.retried(() -> store.bucket()
                .client()
                .get()
                .putObject(
                        request -> request.bucket(bucket())
                                .key(key(number, hashed.sha256))
                                .checksumSHA256(hash)
                                .contentLength(hashed.bytes)
                                .overrideConfiguration(
                                        limit -> limit.apiCallTimeout(PUT_MAX).apiCallAttemptTimeout(PUT_MAX)),
                        AsyncRequestBody.fromInputStream(delivered(lines.get()), hashed.bytes, READERS)));
        return new Hashed(hashed.sha256, hashed.bytes, key(number, hashed.sha256));
    }

    /// Removes an object, once nobody reads it any more.
    ///
    /// @param object its name
    public static void remove(Store store, String object) {
        String bucket = bucket(store);
        store.retried(() -> store.bucket()
                .client()
                .get()
                .deleteObject(request -> request.bucket(bucket).key(object)));
    }

    /// Whether the content is as it was sealed, so that making it again gives the same bytes for ever.
    public boolean isPlain() {
        return destination.compression() == Compression.NONE;
    }

    private InputStream delivered(InputStream lines) {
        return destination.compression() == Compression.GZIP ? new Gzipped(lines) : lines;
    }

    /// The content of a batch.
    public InputStream open(BatchNumber number, String sha256) {
        try {
            return store.retried(() -> store.bucket()
                    .client()
                    .get()
                    .getObject(
                            request -> request.bucket(bucket()).key(key(number, sha256)),
                            AsyncResponseTransformer.toBlockingInputStream()));
        } catch (S3Exception refused) {
            throw new IllegalStateException(
                    "the content " + key(number, sha256) + " in the bucket " + bucket() + " cannot be read: "
                            + refused.getMessage()
                            + ". If the end of the receiver's name was changed after the batch was"
                            + " sealed, change it back",
                    refused);
        }
    }

    /// The name of the object.
    public String key(BatchNumber number, String sha256) {
        return "contents/" + number + "-" + sha256 + (destination.compression() == Compression.GZIP ? ".gz" : "");
    }

    public String bucket() {
        return bucket(store);
    }

    private static String bucket(Store store) {
        return store.bucket()
                .name()
                .orElseThrow(() -> new IllegalStateException("This process was not told the bucket for contents"));
    }
}
