package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.kinesis.model.KmsThrottlingException;
import software.amazon.awssdk.services.kinesis.model.LimitExceededException;

/// The meaning of a failed request to a stream, and the rule for its retries. Streams refuse with errors of their
/// own, which [Store] does not know.
final class Failure {
    private static final int ATTEMPTS_MAX = 30;
    private static final long PAUSE_MS_MIN = 50;
    private static final long PAUSE_MS_MAX = 2_000;

    private Failure() {}

    /// Not done, and it may be tried again.
    static boolean isBusy(Throwable cause) {
        return cause instanceof LimitExceededException
                || cause instanceof software.amazon.awssdk.services.dynamodb.model.LimitExceededException
                || cause instanceof KmsThrottlingException
                || cause instanceof AwsServiceException service && service.isThrottlingException();
    }

    /// Done or not done.
    static boolean isUnknown(Throwable cause) {
        return cause instanceof SdkClientException
                || cause instanceof AwsServiceException service && service.statusCode() >= 500;
    }

    /// Calls until it is answered, a bounded number of times: for what only reads.
    static <T> T retried(Store store, Supplier<CompletableFuture<T>> call) {
        for (int attempt = 1; ; attempt++) {
            try {
                return store.threads().await(call.get());
            } catch (SdkException failed) {
                if (attempt >= ATTEMPTS_MAX || !isBusy(failed) && !isUnknown(failed)) {
                    throw failed;
                }
            }
            long most = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN << Math.min(attempt, 10));
            store.threads().pause(Duration.ofMillis(1 + store.random().nextLong(most)));
        }
    }
}
