package dev.onefold.aws.serve;

import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/// Where the lines of requests go. What is no event goes there as well: who reads it makes a dead letter of it. Any
/// thread may call.
public sealed interface Intake permits StreamIntake, QueueIntake {
    /// The fates of the lines. Each line is put, or its number, from 1, is in one of the lists.
    ///
    /// @param notPut numbers of the lines that are not known to be in; each of them may be in
    /// @param refused lines that are never taken
    /// @param failure reason why some lines are not known to be in; `null` if all are
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

    /// The noun for the intake in messages, such as `stream`.
    String noun();

    /// The reason why the intake never takes some lines.
    String refuses();
}
