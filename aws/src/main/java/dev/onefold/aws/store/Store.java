package dev.onefold.aws.store;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.Select;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/// The tables and the bucket, and how their services are spoken to: with bounded retries, and with the
/// knowledge that a request without an answer may or may not have happened. Any thread may call.
///
/// @param threads how this process waits
/// @param random for ids and for jitter
/// @param clock the time of the service, as far as its answers tell it; it decides nothing about totals
/// @param deltasPerCommitMax how many deltas Reduce takes at once, from 1 to [#DELTAS_PER_COMMIT_MAX]
/// @param bucket where the bytes of dead letters lie
/// @param ids which tables this process has found
/// @param function of the user, where this process has one
public record Store(
        DynamoDbAsyncClient client,
        Tables tables,
        Threads threads,
        RandomGenerator random,
        InstantSource clock,
        int deltasPerCommitMax,
        Bucket bucket,
        TableIds ids,
        Optional<UserFunction> function) {
    public Store {
        clock = clock instanceof ServiceTime ? clock : new ServiceTime(clock);
    }

    /// With one delete for each, and the groups, these fit into one transaction of a hundred items.
    public static final int DELTAS_PER_COMMIT_MAX = 60;

    /// From when the service has begun a transaction until all of its items are visible: far more than it
    /// takes.
    public static final Duration IN_FLIGHT_MAX = Duration.ofSeconds(3);

    private static final int ATTEMPTS_MAX = 12;
    private static final int BACK_OFFS_MAX = 50;
    private static final long PAUSE_MS_MIN = 20;
    private static final long PAUSE_MS_MAX = 2_000;

    /// Names of the tables.
    public record Tables(String rows, String deltas, String totals, String letters) {
        private static final String ROWS = "-rows";

        /// The tables of a deployment, by its name.
        public static Tables of(String deployment) {
            return new Tables(
                    deployment + "-rows", deployment + "-deltas", deployment + "-totals", deployment + "-letters");
        }

        /// Their names: rows, deltas, totals and letters.
        public List<String> names() {
            return List.of(rows, deltas, totals, letters);
        }

        /// The table that holds the rows of a table of the user's function.
        public String output(String table) {
            String deployment = rows.endsWith(ROWS) ? rows.substring(0, rows.length() - ROWS.length()) : rows;
            return deployment + "-table-" + table;
        }
    }

    /// Where the bytes of dead letters lie.
    ///
    /// @param client made when the first letter is kept or read: most processes never do
    /// @param name empty where only the table of letters knows it
    public record Bucket(Supplier<S3AsyncClient> client, Optional<String> name) {
        /// For a process that neither keeps nor reads letters.
        static final Bucket NONE = new Bucket(
                () -> {
                    throw new IllegalStateException("This process was given no client for the bucket of dead letters");
                },
                Optional.empty());
    }

    /// The tables alone, for a process that neither keeps nor reads letters and has not looked at the tables
    /// yet.
    public Store(
            DynamoDbAsyncClient client, Tables tables, Threads threads, RandomGenerator random, InstantSource clock) {
        this(
                client,
                tables,
                threads,
                random,
                clock,
                DELTAS_PER_COMMIT_MAX,
                Bucket.NONE,
                new TableIds(),
                Optional.empty());
    }

    /// The same tables with a bucket.
    public Store with(Bucket letters) {
        return new Store(client, tables, threads, random, clock, deltasPerCommitMax, letters, ids, function);
    }

    /// The same tables for a process that has the user's function.
    public Store with(UserFunction loaded) {
        return new Store(client, tables, threads, random, clock, deltasPerCommitMax, bucket, ids, Optional.of(loaded));
    }

    /// The same tables with smaller commits.
    public Store withDeltasPerCommitMax(int count) {
        return new Store(client, tables, threads, random, clock, count, bucket, ids, function);
    }

    /// The result of a transaction.
    public sealed interface Written {
        /// It is in.
        record Done() implements Written {}

        /// None of it is in; but a request that the SDK has sent twice may be in, or go in, by its first time.
        ///
        /// @param reasons one for each item, in their order; empty if the service was busy
        record Refused(List<CancellationReason> reasons) implements Written {
            public Refused {
                reasons = List.copyOf(reasons);
            }

            /// Whether the condition of an item did not hold.
            public boolean failed(int item) {
                return item < reasons.size()
                        && "ConditionalCheckFailed".equals(reasons.get(item).code());
            }

            /// Whether somebody else has written an item, or is writing it.
            public boolean isTaken(int item) {
                return failed(item)
                        || item < reasons.size()
                                && "TransactionConflict"
                                        .equals(reasons.get(item).code());
            }

            /// Whether the service was busy, or an item takes no more at the moment.
            public boolean isThrottled() {
                return reasons.isEmpty() || IntStream.range(0, reasons.size()).anyMatch(this::throttled);
            }

            /// Whether an item takes no more at the moment: its partition has reached its limit.
            public boolean throttled(int item) {
                return item < reasons.size()
                        && switch (String.valueOf(reasons.get(item).code())) {
                            case "ThrottlingError", "ProvisionedThroughputExceeded" -> true;
                            default -> false;
                        };
            }
        }

        /// All of it or nothing is in, now or later.
        record Unknown(Throwable cause) implements Written {}
    }

    /// Whether a table has no item.
    public boolean isEmpty(String table) {
        ScanResponse page = retried(() -> client.scan(
                request -> request.tableName(table).consistentRead(true).select(Select.COUNT)));
        return page.count() == 0 && !page.hasLastEvaluatedKey();
    }

    /// An item as it is now; empty if there is none.
    public Map<String, AttributeValue> get(String table, Map<String, AttributeValue> key) {
        return retried(() -> client.getItem(
                        request -> request.tableName(table).key(key).consistentRead(true)))
                .item();
    }

    /// Writes all items or none. What cannot be mended by trying again is thrown.
    public Written transact(List<TransactWriteItem> items) {
        try {
            heard(() -> client.transactWriteItems(request -> request.transactItems(items)));
            return new Written.Done();
        } catch (TransactionCanceledException cancelled) {
            for (CancellationReason reason : cancelled.cancellationReasons()) {
                if ("ValidationError".equals(reason.code())
                        || "ItemCollectionSizeLimitExceeded".equals(reason.code())) {
                    throw cancelled;
                }
            }
            return new Written.Refused(cancelled.cancellationReasons());
        } catch (SdkException failed) {
            if (failed instanceof AwsServiceException service && isBusy(service)) {
                return new Written.Refused(List.of());
            }
            if (isUnknown(failed)) {
                return new Written.Unknown(failed);
            }
            throw failed;
        }
    }

    /// Writes all items or none until that is answered, for items that are the same if they are written twice.
    ///
    /// @return whether the condition of the first item held; if not, nothing was written by the last attempt
    public boolean transactIf(List<TransactWriteItem> items) {
        for (int attempt = 1; ; attempt++) {
            switch (transact(items)) {
                case Written.Done _ -> {
                    return true;
                }
                case Written.Refused refused
                when refused.failed(0) -> {
                    return false;
                }
                case Written.Refused _, Written.Unknown _ -> backOff(attempt);
            }
        }
    }

    /// Calls until it is answered: for what may be done any number of times.
    public <T> T retried(Supplier<CompletableFuture<T>> call) {
        for (int attempt = 1; ; attempt++) {
            try {
                return heard(call);
            } catch (SdkException failed) {
                if (!mayPass(failed) || attempt >= ATTEMPTS_MAX) {
                    throw failed;
                }
            }
            backOff(attempt);
        }
    }

    /// The same for a write that has a condition. If an answer was lost, the condition may fail because of this
    /// write.
    ///
    /// @return whether the condition held
    public <T> boolean retriedIf(Supplier<CompletableFuture<T>> call) {
        try {
            retried(call);
            return true;
        } catch (ConditionalCheckFailedException failed) {
            return false;
        }
    }

    /// Calls once, for what nobody misses if it fails: its caller's own work must not fail with it.
    public <T> void tried(Supplier<CompletableFuture<T>> call) {
        try {
            threads.await(call.get());
        } catch (RuntimeException failed) {
            return;
        }
    }

    private <T> T heard(Supplier<CompletableFuture<T>> call) {
        Instant sent = clock.instant();
        T response = threads.await(call.get());
        if (response instanceof SdkResponse answer && clock instanceof ServiceTime time) {
            time.hear(answer, sent);
        }
        return response;
    }

    /// Whether the same request may succeed when it is sent again.
    static boolean mayPass(Throwable cause) {
        return cause instanceof TransactionCanceledException cancelled
                ? cancelled.cancellationReasons().stream().noneMatch(reason -> "ValidationError".equals(reason.code()))
                : isUnknown(cause) || cause instanceof AwsServiceException service && isBusy(service);
    }

    /// Waits before attempt `attempt + 1`: a random part of a time that doubles ("full jitter"). Fails when
    /// there were enough, so that nothing that tries again does so for ever.
    public void backOff(int attempt) {
        if (attempt >= BACK_OFFS_MAX) {
            throw new IllegalStateException("The tables of " + tables.rows() + " have refused "
                    + attempt + " attempts: they are throttled, or others change the same items all the time."
                    + " Nothing is lost; try again, and if this goes on, raise the tables' limits.");
        }
        long most = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN << Math.min(attempt, 10));
        threads.pause(Duration.ofMillis(1 + random.nextLong(most)));
    }

    private static boolean isBusy(AwsServiceException failure) {
        return failure.isThrottlingException()
                || switch (failure.awsErrorDetails() == null
                        ? ""
                        : failure.awsErrorDetails().errorCode()) {
                    case "ProvisionedThroughputExceededException",
                            "RequestLimitExceeded",
                            "ThrottlingException",
                            "TransactionInProgressException",
                            "TransactionConflictException" -> true;
                    default -> false;
                };
    }

    private static boolean isUnknown(Throwable failure) {
        return failure instanceof SdkClientException
                || failure instanceof AwsServiceException service && service.statusCode() >= 500;
    }

    /// An id that is never given twice, and sorts by the time of its making.
    public String newId() {
        return String.format(java.util.Locale.ROOT, "%013x-%016x", clock.millis(), random.nextLong());
    }
}
