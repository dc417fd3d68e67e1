package dev.onefold.embedded.source;

import java.nio.file.Path;
import java.time.Instant;

/// Called when intake waits because the disk is full, or because a receiver of batches does not take them. Any thread
/// calls it; it must return soon.
public interface SpaceListener {
    /// Called at once when the engine begins to wait for space, and then each minute.
    ///
    /// @param since when the wait began
    /// @param file for which there was no space
    void waiting(Instant since, Path file);

    /// Called when the wait has ended: there is space again, or the caller has given up.
    ///
    /// @param since when the wait began
    void ended(Instant since);

    /// Called at once when intake begins to wait for a receiver of batches, and then each minute.
    ///
    /// @param since when the wait began
    /// @param bytes bytes of batches that are sealed and not delivered
    /// @param bytesMax above which intake waits
    default void waitingForReceiver(Instant since, long bytes, long bytesMax) {}

    /// Called when intake continues, because enough was delivered.
    ///
    /// @param since when the wait began
    default void endedForReceiver(Instant since) {}

    /// Tells nobody.
    static SpaceListener silent() {
        return new SpaceListener() {
            @Override
            public void waiting(Instant since, Path file) {}

            @Override
            public void ended(Instant since) {}
        };
    }
}
