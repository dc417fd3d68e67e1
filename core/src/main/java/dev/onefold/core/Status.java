package dev.onefold.core;

import dev.onefold.core.event.Reason;
import dev.onefold.core.process.StepFunction.Impurity;
import dev.onefold.core.query.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// How an engine is.
///
/// @param at when this was asked
/// @param counts the counts of the records so far, by fate
/// @param deadLetters number of dead letters
/// @param deadLettersByReason of the first ones, in the order of the reasons
/// @param rows keys that have a row, deleted ones included
/// @param stateBytes memory of rows and index, off the Java heap
/// @param diskBytes of all files in the data directory
/// @param checkpoint number of the last durable checkpoint
/// @param checkpointAt when that was taken
/// @param lags bytes by which each file has grown since it was folded, by its path
/// @param waitingForSpaceSince when intake found the disk full; empty if it does not wait for space
/// @param definitionPending whether another definition is wanted, and does not serve yet
/// @param function how the function per key is; empty if the pipeline has none
/// @param batches how it is with batches; empty if the pipeline makes none
/// @param writes the writes to disk; empty if this runtime does not count them
/// @param publication how the copy of the totals is that others read; empty if the engine keeps none
/// @param sources how far each one is in the results
public record Status(
        Instant at,
        Counts counts,
        long deadLetters,
        Map<Reason, Long> deadLettersByReason,
        long rows,
        long stateBytes,
        long diskBytes,
        long checkpoint,
        Instant checkpointAt,
        Map<String, Long> lags,
        Optional<Instant> waitingForSpaceSince,
        boolean definitionPending,
        Optional<OfFunction> function,
        Optional<SealedBatches.Summary> batches,
        Optional<OfWrites> writes,
        Optional<OfPublication> publication,
        List<Answer.Progress> sources) {
    /// How the copy of the totals is that others read.
    ///
    /// @param cut number of the last cut that was committed; 0 if none was since the engine was opened
    /// @param cutAt time of that cut
    /// @param failingSince when it began to fail; empty if the last try was well
    /// @param failure why; empty if the last try was well
    public record OfPublication(long cut, Optional<Instant> cutAt, Optional<Instant> failingSince, String failure) {
        /// After a try that was well.
        public OfPublication done(long to, Instant at) {
            return new OfPublication(to, Optional.of(at), Optional.empty(), "");
        }

        /// After a try that failed.
        public OfPublication failed(Instant at, String reason) {
            return new OfPublication(cut, cutAt, failingSince.or(() -> Optional.of(at)), reason);
        }
    }

    /// The writes to disk since the engine was opened.
    ///
    /// @param forces of the journal; each makes all records durable that are acknowledged next
    /// @param forcesNanos total time of the forces
    /// @param checkpoints number of durable checkpoints
    /// @param checkpointsNanos total time of the checkpoints, each from its cut on; intake goes on meanwhile
    public record OfWrites(long forces, long forcesNanos, long checkpoints, long checkpointsNanos) {}

    /// How a function per key is, since the engine was opened.
    ///
    /// @param impureCalls calls of the sample that had another result when they were made again
    /// @param lastImpure the last one of these, with both results
    /// @param stuckThreads threads in calls that were given up and have not returned
    /// @param otherJar says that the jar has another hash and the same version; empty if it has not
    public record OfFunction(
            long impureCalls, Optional<Impurity> lastImpure, int stuckThreads, Optional<String> otherJar) {}

    public Status {
        Map<Reason, Long> ordered = new EnumMap<>(Reason.class);
        ordered.putAll(deadLettersByReason);
        deadLettersByReason = Collections.unmodifiableMap(ordered);
        lags = Collections.unmodifiableMap(new TreeMap<>(lags));
        sources = List.copyOf(sources);
    }

    /// Bytes by which all files have grown since they were folded.
    public long lagBytes() {
        return lags.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Dead letters whose reasons were counted.
    public long deadLettersCounted() {
        return deadLettersByReason.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Time since the last durable checkpoint; zero if the clock was set back.
    public Duration checkpointAge() {
        Duration age = Duration.between(checkpointAt, at);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /// The same, with a definition that is pending if it is here or if a pipeline file says something else.
    public Status pendingIf(boolean fileIsOther) {
        return new Status(
                at,
                counts,
                deadLetters,
                deadLettersByReason,
                rows,
                stateBytes,
                diskBytes,
                checkpoint,
                checkpointAt,
                lags,
                waitingForSpaceSince,
                definitionPending || fileIsOther,
                function,
                batches,
                writes,
                publication,
                sources);
    }
}
