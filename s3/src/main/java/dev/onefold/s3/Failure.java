package dev.onefold.s3;

import dev.onefold.core.batch.Outcome;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/// What the failure of a request means.
final class Failure {
    private static final int CAUSES_MAX = 20;

    private Failure() {}

    /// The meaning of an error that came in place of an object.
    ///
    /// @param url of the object
    static Outcome outcome(String url, Exception failure) {
        if (failure instanceof AwsServiceException answer) {
            return answered(url, answer);
        }
        Throwable notConnected = notConnected(failure);
        return notConnected == null
                ? new Outcome.Unknown("Nobody knows whether " + url + " was written: " + failure.getMessage())
                : new Outcome.NotNow(
                        url + " was not written, because the store cannot be reached: " + notConnected, null);
    }

    /// The meaning of a failure behind the content's own request, which may have had its effect.
    static Outcome behindContent(Outcome failed) {
        return switch (failed) {
            case Outcome.NotNow(var reason, var _) -> new Outcome.Unknown(reason);
            case Outcome.Refused(var reason) -> new Outcome.Unknown(reason);
            case Outcome.Done _, Outcome.Unknown _, Outcome.Partial _, Outcome.Conflict _ -> failed;
        };
    }

    /// A connection that was never made has carried nothing.
    private static @Nullable Throwable notConnected(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < CAUSES_MAX && cause != null; i++) {
            if (cause instanceof ConnectException
                    || cause instanceof UnknownHostException
                    || cause instanceof NoRouteToHostException
                    || cause instanceof SSLHandshakeException) {
                return cause;
            }
            cause = cause.getCause();
        }
        return null;
    }

    private static Outcome answered(String url, AwsServiceException answer) {
        String code = answer.awsErrorDetails() == null
                ? ""
                : String.valueOf(answer.awsErrorDetails().errorCode());
        String said = url + " was not written. The store answered " + answer.statusCode() + ": " + answer.getMessage();
        if (code.equals("EntityTooLarge") || code.equals("KeyTooLongError")) {
            return new Outcome.Refused(said);
        }
        return switch (answer.statusCode()) {
            case 301, 307, 400 ->
                new Outcome.NotNow(said + ". Check the bucket's region, and 'region' under 'deliver'", null);
            case 401, 403 ->
                new Outcome.NotNow(said + ". Allow s3:PutObject and s3:GetObject on it to this process", null);
            case 404 -> new Outcome.NotNow(said + ". Create the bucket, or correct its name", null);
            case 409 -> new Outcome.NotNow(said + ". Another request for the same object is under way", null);
            case 503 -> new Outcome.NotNow(said, null); // S3 says so before it does anything.
            default ->
                answer.statusCode() < 500
                        ? new Outcome.NotNow(said, null)
                        : new Outcome.Unknown("Nobody knows whether " + url + " was written. The store answered "
                                + answer.statusCode() + ": " + answer.getMessage());
        };
    }
}
