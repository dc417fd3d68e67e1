package dev.onefold.s3;

import dev.onefold.core.batch.Outcome;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/// The meaning of a failed request.
final class Failure {
    private static final int CAUSES_MAX = 20;

    /// S3 answers so before it does anything.
    private static final int UNAVAILABLE = 503;

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
                ? new Outcome.Unknown("Nobody knows whether " + url + " was written: " + said(failure))
                : new Outcome.NotNow(
                        url + " was not written, because the store cannot be reached: " + notConnected, null);
    }

    /// The meaning of a failure after the content's own request, which may have had its effect.
    ///
    /// @param content the url of the content, which is there
    static Outcome behindContent(String content, Outcome failed) {
        return switch (failed) {
            case Outcome.NotNow(var reason, var _) -> there(content, reason);
            case Outcome.Refused(var reason) -> there(content, reason);
            case Outcome.Done _, Outcome.Unknown _, Outcome.Partial _, Outcome.Conflict _ -> failed;
        };
    }

    private static Outcome there(String content, String reason) {
        return new Outcome.Unknown("The object " + content + " is there, and what comes behind it failed: " + reason);
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
        AwsErrorDetails details = answer.awsErrorDetails();
        String code = details == null || details.errorCode() == null ? "" : details.errorCode();
        String message = details == null || details.errorMessage() == null ? "" : details.errorMessage();
        String said = "The store answered " + answer.statusCode()
                + (code.isEmpty() ? "" : " " + code)
                + (message.isEmpty()
                        ? ""
                        : ": " + (message.endsWith(".") ? message.substring(0, message.length() - 1) : message));
        if (answer.statusCode() >= 500 && answer.statusCode() != UNAVAILABLE) {
            return new Outcome.Unknown("Nobody knows whether " + url + " was written. " + said);
        }
        String refused = url + " was not written. " + said;
        return switch (code) {
            case "EntityTooLarge" -> new Outcome.Refused(refused + ". Write a smaller 'bytes' or 'size' under 'batch'");
            case "KeyTooLongError" -> new Outcome.Refused(refused);
            default -> {
                String todo = todo(code, answer.statusCode());
                yield new Outcome.NotNow(todo.isEmpty() ? refused : refused + ". " + todo, null);
            }
        };
    }

    /// The advice to a person; empty if waiting is enough.
    private static String todo(String code, int status) {
        return switch (code) {
            case "ExpiredToken", "InvalidToken", "TokenRefreshRequired" ->
                "The credentials are not valid any more: renew them";
            case "SignatureDoesNotMatch", "InvalidAccessKeyId" -> "Check the access key and its secret";
            case "RequestTimeTooSkewed" -> "Set the clock of this machine";
            default ->
                switch (status) {
                    case 301, 307, 400 -> "Check the bucket's region, and 'region' under 'deliver'";
                    case 401, 403 -> "Allow s3:PutObject and s3:GetObject on it to this process";
                    // A request for an object has this answer, too, if the object was removed a moment ago.
                    case 404 -> "If there is no such bucket, create it, or correct its name";
                    case 409 -> "Another request for the same object is under way";
                    default -> "";
                };
        };
    }

    /// The first sentence of the cause. The SDK's own advice is for its programmers.
    private static String said(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < CAUSES_MAX && cause.getCause() != null; i++) {
            cause = cause.getCause();
        }
        String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        int end = message.indexOf(". ");
        return end < 0 ? message : message.substring(0, end);
    }
}
