package dev.onefold.sqs;

import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;

/// Why a queue cannot be used, in words that say what to do.
final class Reason {
    private static final int LENGTH_MAX = 300;

    private Reason() {}

    static String of(Throwable failure) {
        String said = String.valueOf(failure.getMessage());
        if (failure instanceof QueueDoesNotExistException) {
            return "it does not exist. It was deleted, or its URL is wrong";
        }
        if (said.contains("Unable to load credentials")) {
            return "there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
        }
        if (said.contains("Acquire operation took longer")) {
            return "nothing can be reached there. Check the network, and a proxy that may be needed";
        }
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String told = said.contains("Unable to execute HTTP request") ? cause.toString() : said;
        String line = told.lines().findFirst().orElse(told);
        return line.length() > LENGTH_MAX ? line.substring(0, LENGTH_MAX) + "..." : line;
    }
}
