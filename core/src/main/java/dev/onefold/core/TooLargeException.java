package dev.onefold.core;

/// What a caller gives is more than one call takes. Nothing was done; in several calls it may be taken.
public final class TooLargeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public TooLargeException(String message) {
        super(message);
    }
}
