package dev.onefold.aws.stream;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.kinesis.model.KmsThrottlingException;
import software.amazon.awssdk.services.kinesis.model.LimitExceededException;

/// What the failure of a request to a stream means.
final class Failure {
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
}
