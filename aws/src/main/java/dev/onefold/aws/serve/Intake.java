package dev.onefold.aws.serve;

import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/// Where the lines of requests go. What is no event goes there as well: who reads it makes a dead letter of it. Any
/// thread may call.
public sealed interface Intake permits StreamIntake, QueueIntake {
    /// What became of the lines. Each is put, or in one of the lists, by its number from 1.
    ///
    /// @param notPut may be in, and nobody knows
    /// @param refused lines that are never taken
    /// @param failure why some are not known to be in; `null` if all are
    record Outcome(
            long put,
            List<Long> notPut,
            SortedSet<Long> refused,
            @Nullable RuntimeException failure) {
        public Outcome {
            notPut = List.copyOf(notPut);
        }
    }

    /// Puts all lines; returns when the service has acknowledged them.
    ///
    /// @param most after which nothing more is sent
    Outcome put(Pipeline pipeline, List<String> lines, Duration most);

    /// What it is, as a person calls it.
    String noun();

    /// What of lines makes it take them never.
    String refuses();
}
