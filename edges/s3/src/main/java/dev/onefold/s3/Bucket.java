package dev.onefold.s3;

import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.ChecksumType;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Makes objects of one bucket whole or not at all, and never in the place of another one. The store compares
/// the bytes with their SHA-256 before the object exists. Any thread.
final class Bucket implements AutoCloseable {
    private static final int IS_THERE = 412;
    private static final int BUFFER_BYTES = 1 << 16;

    private final S3AsyncClient client;
    private final String name;
    private final ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor();

    Bucket(S3AsyncClient client, String name) {
        this.client = client;
        this.name = name;
    }

    /// Makes an object, unless one is there.
    ///
    /// @param left how long it may take
    /// @return whether it was made; if not, one is there, and was left as it is
    /// @throws SdkException if the request fails, or is not answered in time
    boolean make(String key, Content content, Duration left) throws IOException, InterruptedException {
        try (InputStream in = content.source().open()) {
            await(client.putObject(
                    request -> request.bucket(name)
                            .key(key)
                            .ifNoneMatch("*")
                            .checksumSHA256(base64(content.sha256()))
                            .contentLength(content.bytes())
                            .overrideConfiguration(limit -> limit.apiCallTimeout(left)),
                    AsyncRequestBody.fromInputStream(in, content.bytes(), readers)));
            return true;
        } catch (S3Exception e) {
            if (e.statusCode() != IS_THERE) {
                throw e;
            }
            return false;
        }
    }

    /// Whether the object that is there has this content.
    ///
    /// @param left how long that may take
    /// @throws SdkException if a request fails, or is not answered in time
    /// @throws IOException if the object is not read in time
    boolean has(String key, Content content, Duration left) throws IOException, InterruptedException {
        long end = System.nanoTime() + left.toNanos();
        HeadObjectResponse found = await(client.headObject(request -> request.bucket(name)
                .key(key)
                .checksumMode(ChecksumMode.ENABLED)
                .overrideConfiguration(limit -> limit.apiCallTimeout(left))));
        if (found.contentLength() != content.bytes()) {
            return false;
        }
        // Of an object that was put in pieces, the store knows only the hash of their hashes.
        return found.checksumSHA256() != null && found.checksumType() != ChecksumType.COMPOSITE
                ? found.checksumSHA256().equals(base64(content.sha256()))
                : hash(key, end).equals(content.sha256());
    }

    private String hash(String key, long end) throws IOException, InterruptedException {
        Duration left = Duration.ofNanos(Math.max(1, end - System.nanoTime()));
        try (ResponseInputStream<GetObjectResponse> object = await(client.getObject(
                request -> request.bucket(name).key(key).overrideConfiguration(limit -> limit.apiCallTimeout(left)),
                AsyncResponseTransformer.toBlockingInputStream()))) {
            try {
                return hash(object, end);
            } catch (IOException e) {
                object.abort(); // Closing it would read the rest.
                throw e;
            }
        }
    }

    /// The limit of a call ends with the headers of its answer. So the time is compared while the content comes.
    ///
    /// @param end as of [System#nanoTime]
    static String hash(InputStream object, long end) throws IOException {
        MessageDigest digest = Sha256.digest();
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int count = object.read(buffer); count >= 0; count = object.read(buffer)) {
            if (System.nanoTime() - end > 0) {
                throw new IOException("The object that is there could not be read in time");
            }
            digest.update(buffer, 0, count);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static <T> T await(CompletableFuture<T> answer) throws IOException, InterruptedException {
        try {
            return answer.get(); // The limit of the call ends it.
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case SdkException failure -> throw failure;
                case IOException failure -> throw failure;
                case null, default -> throw new IOException("A request to the bucket failed: " + e.getCause(), e);
            }
        } finally {
            answer.cancel(true);
        }
    }

    private static String base64(String sha256) {
        return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(sha256));
    }

    @Override
    public void close() {
        client.close();
        readers.shutdownNow();
    }
}
