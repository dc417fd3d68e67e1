package dev.onefold.embedded.source;

import java.nio.file.Path;
import java.time.Instant;

/// Called when the disk is full. Any thread calls it; it must return soon.
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
