package dev.onefold.batch;

/// The content of a batch is refused for ever, and it has had no effect.
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    /// @param reason the problem of the content; a person reads it
    public RefusedException(String reason) {
        super(reason);
    }
}
