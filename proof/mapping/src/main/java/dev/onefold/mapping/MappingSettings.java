package dev.onefold.mapping;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// How a mapping reads and invokes, named and bounded as AWS does.
///
/// @param batchSize records of an invocation, at most
/// @param maximumBatchingWindow how long a batch that is not full waits for more
/// @param parallelizationFactor batches of one shard at a time; records of one partition key keep their order
/// @param failing what becomes of a batch that failed
/// @param start where reading begins in shards that are there already
public record MappingSettings(
        int batchSize, Duration maximumBatchingWindow, int parallelizationFactor, Failing failing, Start start) {
    /// The age at which nothing is given up.
    public static final Duration FOREVER = Duration.ofSeconds(-1);

    private static final int BATCH_SIZE_MAX = 10_000;
    private static final Duration WINDOW_MAX = Duration.ofMinutes(5);
    private static final int PARALLELIZATION_MAX = 10;
    private static final int RETRIES_MAX = 10_000;
    private static final Duration AGE_MIN = Duration.ofSeconds(60);
    private static final Duration AGE_MAX = Duration.ofDays(7);

    /// Where reading begins.
    public enum StartingPosition {
        TRIM_HORIZON,
        LATEST,
        AT_TIMESTAMP
    }

    /// What becomes of a batch that failed.
    ///
    /// @param maximumRetryAttempts after the first one; -1 is without end
    /// @param maximumRecordAge older records are given up; [#FOREVER] never
    /// @param bisectBatchOnFunctionError whether the batch is tried again in two halves
    /// @param reportBatchItemFailures whether an answer may say from where on records come again
    public record Failing(
            int maximumRetryAttempts,
            Duration maximumRecordAge,
            boolean bisectBatchOnFunctionError,
            boolean reportBatchItemFailures) {
        public Failing {
            require(
                    maximumRetryAttempts >= -1 && maximumRetryAttempts <= RETRIES_MAX,
                    "maximumRetryAttempts",
                    maximumRetryAttempts);
            boolean isAge = maximumRecordAge.compareTo(AGE_MIN) >= 0 && maximumRecordAge.compareTo(AGE_MAX) <= 0;
            require(maximumRecordAge.equals(FOREVER) || isAge, "maximumRecordAge", maximumRecordAge);
        }
    }

    /// A place in a stream.
    ///
    /// @param timestamp for [StartingPosition#AT_TIMESTAMP]
    public record Start(StartingPosition position, @Nullable Instant timestamp) {
        public Start {
            require(
                    (position == StartingPosition.AT_TIMESTAMP) == (timestamp != null),
                    "startingPositionTimestamp, which belongs to AT_TIMESTAMP,",
                    String.valueOf(timestamp));
        }
    }

    public MappingSettings {
        require(batchSize >= 1 && batchSize <= BATCH_SIZE_MAX, "batchSize", batchSize);
        require(
                !maximumBatchingWindow.isNegative() && maximumBatchingWindow.compareTo(WINDOW_MAX) <= 0,
                "maximumBatchingWindow",
                maximumBatchingWindow);
        require(
                parallelizationFactor >= 1 && parallelizationFactor <= PARALLELIZATION_MAX,
                "parallelizationFactor",
                parallelizationFactor);
    }

    private static void require(boolean isPossible, String name, Object value) {
        if (!isPossible) {
            throw new IllegalArgumentException(name + " cannot be " + value + ": AWS refuses it");
        }
    }

    /// As the template gives State its stream: nothing is given up that can be delivered.
    public static MappingSettings input() {
        return fromTheOldest(new Failing(-1, FOREVER, true, true));
    }

    /// As the template gives Reduce its wake-ups: what is not delivered soon is found at the next minute.
    public static MappingSettings wakes() {
        return fromTheOldest(new Failing(2, AGE_MIN, false, false));
    }

    /// As the template gives State its queue of retries.
    public static MappingSettings retries() {
        return input().withBatch(10, Duration.ZERO);
    }

    private static MappingSettings fromTheOldest(Failing failing) {
        return new MappingSettings(1_000, Duration.ZERO, 1, failing, new Start(StartingPosition.TRIM_HORIZON, null));
    }

    public MappingSettings withBatch(int size, Duration window) {
        return new MappingSettings(size, window, parallelizationFactor, failing, start);
    }

    public MappingSettings withParallelizationFactor(int factor) {
        return new MappingSettings(batchSize, maximumBatchingWindow, factor, failing, start);
    }

    /// What is given up, and when.
    public MappingSettings withEnd(int retryAttempts, Duration recordAge) {
        return with(new Failing(
                retryAttempts, recordAge, failing.bisectBatchOnFunctionError(), failing.reportBatchItemFailures()));
    }

    /// Whether a batch that failed is halved, and whether an answer may name the records that failed.
    public MappingSettings withFailure(boolean bisect, boolean report) {
        return with(new Failing(failing.maximumRetryAttempts(), failing.maximumRecordAge(), bisect, report));
    }

    private MappingSettings with(Failing other) {
        return new MappingSettings(batchSize, maximumBatchingWindow, parallelizationFactor, other, start);
    }

    public MappingSettings withStart(StartingPosition position, @Nullable Instant timestamp) {
        return new MappingSettings(
                batchSize, maximumBatchingWindow, parallelizationFactor, failing, new Start(position, timestamp));
    }
}
