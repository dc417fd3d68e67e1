package dev.onefold.aws;

import dev.onefold.fakes.aws.FakeClient;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Buckets in this process, with what a service may do to a request: lose its answer. Any thread may call.
public final class LocalBucket implements S3AsyncClient, FakeClient {
    /// By bucket and object.
    public final Map<String, byte[]> objects = new ConcurrentSkipListMap<>();

    public final List<String> puts = new ArrayList<>();

    private int answersLost;

    /// The answers of the next requests are lost, though these are done.
    public synchronized void loseAnswers(int count) {
        answersLost = count;
    }

    private synchronized boolean loses() {
        return answersLost-- > 0;
    }

    private <T> CompletableFuture<T> answer(T answer) {
        return loses()
                ? CompletableFuture.failedFuture(SdkClientException.create("connection reset"))
                : CompletableFuture.completedFuture(answer);
    }

    @Override
    public CompletableFuture<PutObjectResponse> putObject(PutObjectRequest request, AsyncRequestBody body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        body.subscribe(buffer -> {
                    byte[] part = new byte[buffer.remaining()];
                    buffer.get(part);
                    bytes.writeBytes(part);
                })
                .join();
        if (!hash(bytes.toByteArray()).equals(request.checksumSHA256())) {
            return CompletableFuture.failedFuture(
                    S3Exception.builder().message("BadDigest").statusCode(400).build());
        }
        synchronized (this) {
            puts.add(request.key());
        }
        objects.put(request.bucket() + "/" + request.key(), bytes.toByteArray());
        return answer(PutObjectResponse.builder().build());
    }

    private static String hash(byte[] bytes) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public <T> CompletableFuture<T> getObject(
            GetObjectRequest request, AsyncResponseTransformer<GetObjectResponse, T> transformer) {
        byte[] object = objects.get(request.bucket() + "/" + request.key());
        if (object == null) {
            return CompletableFuture.failedFuture(NoSuchKeyException.builder()
                    .message("The specified key does not exist.")
                    .statusCode(404)
                    .build());
        }
        CompletableFuture<T> read = transformer.prepare();
        transformer.onResponse(
                GetObjectResponse.builder().contentLength((long) object.length).build());
        transformer.onStream(AsyncRequestBody.fromBytes(object));
        return read.thenCompose(this::answer);
    }

    @Override
    public CompletableFuture<DeleteObjectResponse> deleteObject(DeleteObjectRequest request) {
        objects.remove(request.bucket() + "/" + request.key());
        return answer(DeleteObjectResponse.builder().build());
    }
}
