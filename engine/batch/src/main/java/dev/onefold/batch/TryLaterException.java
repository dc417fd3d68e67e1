package dev.onefold.batch;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A batch cannot be received now, and it has had no effect.
public final class TryLaterException extends Exception {
    private static final long serialVersionUID = 1;

    private final @Nullable Duration after;

    /// The next attempt is made by the schedule of `retry` in the pipeline file.
    ///
    /// @param reason a person reads it
    public TryLaterException(String reason) {
        super(reason);
        this.after = null;
    }

    /// @param reason a person reads it
    /// @param after delay before the next attempt; not negative
    public TryLaterException(String reason, Duration after) {
        super(reason);
        if (after.isNegative()) {
            throw new IllegalArgumentException("An attempt cannot be made " + after + " from now");
        }
        this.after = after;
    }

    /// How long the next attempt waits; empty if the pipeline file decides.
    public Optional<Duration> after() {
        return Optional.ofNullable(after);
    }
}
