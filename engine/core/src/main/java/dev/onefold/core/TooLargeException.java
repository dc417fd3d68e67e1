package dev.onefold.core;

/// The input of a call exceeds the limit of one call. Nothing was done; the caller can divide the input over
/// several calls.
public final class TooLargeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public TooLargeException(String message) {
        super(message);
    }
}
