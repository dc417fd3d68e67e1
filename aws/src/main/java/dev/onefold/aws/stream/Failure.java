package dev.onefold.aws.stream;

import java.util.concurrent.CompletionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.kinesis.model.KmsThrottlingException;
import software.amazon.awssdk.services.kinesis.model.LimitExceededException;

/// What the failure of a request to a stream means.
final class Failure {
    private Failure() {}

    /// What went wrong, without what futures wrap it in.
    static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /// Not done, and it may be tried again.
    static boolean isBusy(Throwable cause) {
        return cause instanceof LimitExceededException
                || cause instanceof KmsThrottlingException
                || cause instanceof AwsServiceException service && service.isThrottlingException();
    }

    /// Done or not done.
    static boolean isUnknown(Throwable cause) {
        return cause instanceof SdkClientException
                || cause instanceof AwsServiceException service && service.statusCode() >= 500;
    }
}
