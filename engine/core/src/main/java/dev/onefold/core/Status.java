package dev.onefold.core;

import dev.onefold.core.event.Reason;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.query.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The status of an engine.
///
/// @param at time of this status
/// @param counts the counts of the records so far, by fate
/// @param byCause the counts of causes, as [#causes] has them
/// @param deadLetters number of dead letters
/// @param deadLettersByReason of the first ones, in the order of the reasons
/// @param rows keys that have a row, deleted ones included
/// @param stateBytes memory of rows and index, off the Java heap
/// @param diskBytes of all files in the data directory
/// @param checkpoint number of the last durable checkpoint
/// @param checkpointAt time of that checkpoint
/// @param lags bytes by which each file has grown since it was folded, by its path
/// @param waitingForSpaceSince when intake found the disk full; empty if it does not wait for space
/// @param definitionPending whether another definition is wanted, and does not serve yet
/// @param function status of the function per key; empty if the pipeline has none
/// @param batches status of the batches; empty if the pipeline makes none
/// @param writes the writes to disk; empty if this runtime does not count them
/// @param publication status of the published copy of the totals; empty if the engine keeps none
/// @param sources progress of each source in the results
/// @param delays of the records since the engine was opened, by the way they came; empty if this runtime
///     measures none
/// @param logs the partitions of logs that were read
public record Status(
        Instant at,
        Counts counts,
        Map<String, Long> byCause,
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
        List<Answer.Progress> sources,
        List<OfDelay> delays,
        List<OfPartition> logs) {
    /// A partition of a log.
    ///
    /// @param source the log and the number of the partition, as `trades/3`
    /// @param next the offset behind the records that are in the results
    /// @param behind offsets from there to the end, those of open transactions included; -1 if nobody has asked
    ///     for it
    /// @param behindMs the age of the oldest record that is not in the results, in milliseconds, 0 if there is
    ///     none; -1 if it is not known
    /// @param retentionLeftMs the time until the log deletes that record, in milliseconds; -1 if it is not known or
    ///     the log has no such limit
    /// @param waits what its reader waits for, such as an open transaction; empty if it waits for nothing
    /// @param stopped why it is not read any more; empty if it is
    /// @param lost offsets that the log had lost before they were read, and that a person has accepted
    public record OfPartition(
            String source,
            long next,
            long behind,
            long behindMs,
            long retentionLeftMs,
            String waits,
            String stopped,
            List<Lost> lost) {
        public OfPartition {
            lost = List.copyOf(lost);
        }
    }

    /// Offsets whose records will never be in the results.
    ///
    /// @param to behind the last one
    public record Lost(long from, long to, Instant accepted) {}

    /// The delay of records from their arrival until a query sees them. A request arrives when it is handed
    /// over, the growth of a followed file when it is noticed, a record of a log or queue at the time that the
    /// log or queue says.
    ///
    /// @param from "requests", "files", "logs" or "queues"
    /// @param records how many there were
    /// @param p50Micros half of them had at most this delay; up to an eighth too long, as is p99Micros
    public record OfDelay(
            String from, long records, long meanMicros, long p50Micros, long p99Micros, long longestMicros) {}

    /// The status of the published copy of the totals.
    ///
    /// @param cut number of the last cut that was committed; 0 if none was since the engine was opened
    /// @param cutAt time of that cut
    /// @param failingSince when it began to fail; empty if the last try succeeded
    /// @param failure why; empty if the last try succeeded
    public record OfPublication(long cut, Optional<Instant> cutAt, Optional<Instant> failingSince, String failure) {
        /// The status after a try that succeeded.
        public OfPublication done(long to, Instant at) {
            return new OfPublication(to, Optional.of(at), Optional.empty(), "");
        }

        /// The status after a try that failed.
        public OfPublication failed(Instant at, String reason) {
            return new OfPublication(cut, cutAt, failingSince.or(() -> Optional.of(at)), reason);
        }
    }

    /// The writes to disk since the engine was opened.
    ///
    /// @param forces of the journal; each makes all records durable that are acknowledged next
    /// @param forcesNanos total time of the forces
    /// @param checkpoints number of durable checkpoints
    /// @param checkpointsNanos total time of the checkpoints, each from its cut on; intake continues
    ///     meanwhile
    public record OfWrites(long forces, long forcesNanos, long checkpoints, long checkpointsNanos) {}

    /// The status of a function per key, since the engine was opened.
    ///
    /// @param impureCalls sampled calls that returned another result when they were repeated
    /// @param lastImpure the last one of these, with both results
    /// @param stuckThreads threads in calls that were given up and have not returned
    /// @param otherJar reports that the jar has another hash and the same version; empty if it has not
    public record OfFunction(
            long impureCalls, Optional<Impurity> lastImpure, int stuckThreads, Optional<String> otherJar) {}

    public Status {
        Map<Reason, Long> ordered = new EnumMap<>(Reason.class);
        ordered.putAll(deadLettersByReason);
        deadLettersByReason = Collections.unmodifiableMap(ordered);
        byCause = Collections.unmodifiableMap(new TreeMap<>(byCause));
        lags = Collections.unmodifiableMap(new TreeMap<>(lags));
        sources = List.copyOf(sources);
        delays = List.copyOf(delays);
        logs = List.copyOf(logs);
    }

    /// Bytes by which all files have grown since they were folded.
    public long lagBytes() {
        return lags.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Why records were stale, conflicting or silent, where the cause has a name.
    public Causes causes() {
        return new Causes(byCause);
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

    /// The same status; the definition is pending if it was already, or if the pipeline file has another one.
    public Status pendingIf(boolean fileIsOther) {
        return new Status(
                at,
                counts,
                byCause,
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
                sources,
                delays,
                logs);
    }
}
