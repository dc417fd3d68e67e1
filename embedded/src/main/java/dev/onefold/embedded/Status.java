package dev.onefold.embedded;

import dev.onefold.core.query.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// How the engine is.
///
/// @param rows keys that have a row, deleted ones included
/// @param stateBytes memory of rows and index, off the Java heap
/// @param checkpoint number of the last durable checkpoint, and when it was taken
/// @param checkpointStopMax the longest that a checkpoint has stopped intake since the engine was opened
/// @param waitingForSpaceSince when intake found the disk full; empty if it does not wait for space
public record Status(
        long rows,
        long stateBytes,
        long checkpoint,
        Instant checkpointAt,
        Duration checkpointStopMax,
        Optional<Instant> waitingForSpaceSince,
        List<Answer.Progress> sources) {
    public Status {
        sources = List.copyOf(sources);
    }
}
