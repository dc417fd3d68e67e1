package dev.onefold.fakes.aws.bucket;

import dev.onefold.fakes.aws.FakeClient;
import dev.onefold.fakes.aws.SimulatedClient;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/// The SDK's client of a bucket, as one process has it. An operation that is not overridden here fails, as the SDK's
/// interface has it.
final class BucketClient implements S3AsyncClient, FakeClient {
    private final SimulatedBucket bucket;
    private final SimulatedClient process;

    BucketClient(SimulatedBucket bucket, SimulatedClient process) {
        this.bucket = bucket;
        this.process = process;
    }

    @Override
    public CompletableFuture<PutObjectResponse> putObject(PutObjectRequest request, AsyncRequestBody body) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        // A body of bytes gives them at once.
        body.subscribe(buffer -> {
                    byte[] part = new byte[buffer.remaining()];
                    buffer.get(part);
                    content.writeBytes(part);
                })
                .join();
        return bucket.call(process, () -> {
            bucket.put(name(request.bucket(), request.key()), content.toByteArray());
            return PutObjectResponse.builder().build();
        });
    }

    @Override
    public <T> CompletableFuture<T> getObject(
            GetObjectRequest request, AsyncResponseTransformer<GetObjectResponse, T> transformer) {
        return bucket.call(process, () -> bucket.get(name(request.bucket(), request.key())))
                .thenCompose(content -> {
                    CompletableFuture<T> read = transformer.prepare();
                    transformer.onResponse(GetObjectResponse.builder()
                            .contentLength((long) content.length)
                            .build());
                    transformer.onStream(AsyncRequestBody.fromBytes(content));
                    return read;
                });
    }

    @Override
    public CompletableFuture<DeleteObjectResponse> deleteObject(DeleteObjectRequest request) {
        return bucket.call(process, () -> {
            bucket.remove(name(request.bucket(), request.key()));
            return DeleteObjectResponse.builder().build();
        });
    }

    private static String name(String bucketName, String object) {
        return bucketName + "/" + object;
    }
}
