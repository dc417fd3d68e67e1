package dev.onefold.cli.call;

import java.net.UnknownHostException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;

/// Why a service could not be asked, as a person can act on it.
public final class Reason {
    private Reason() {}

    /// The message of a failure, without the objects that the SDK has asked. A host whose name is not known is named
    /// in place of the SDK's advice to look at the cause.
    public static String of(Exception failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnknownHostException unknown) {
                String host = String.valueOf(unknown.getMessage()).replaceFirst(": .*", "");
                return "The host " + host + " is not known. Check the region, and whether this machine"
                        + " has a network.";
            }
            if (cause instanceof ApiCallTimeoutException || cause instanceof ApiCallAttemptTimeoutException) {
                return "The service has not answered in time. Check the region, the address and whether this machine"
                        + " has a network (" + cause.getMessage() + ")";
            }
        }
        String message = String.valueOf(failure.getMessage());
        int objects = message.indexOf(" in the chain ");
        return objects < 0 ? message : message.substring(0, objects);
    }
}
