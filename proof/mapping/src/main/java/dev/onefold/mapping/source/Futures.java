package dev.onefold.mapping.source;

import java.util.concurrent.CompletionException;

/// What is the same for all futures.
public final class Futures {
    private Futures() {}

    /// What a future failed with, taken out of what its callbacks wrap it in.
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
