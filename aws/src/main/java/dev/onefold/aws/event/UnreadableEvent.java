package dev.onefold.aws.event;

/// An invocation that is not what the service documents. That is a broken invariant and no bad input of a user's: what
/// users send lies undecoded inside. The message says which record.
public final class UnreadableEvent extends RuntimeException {
    UnreadableEvent(String message) {
        super(message);
    }

    UnreadableEvent(String message, Throwable cause) {
        super(message, cause);
    }
}
