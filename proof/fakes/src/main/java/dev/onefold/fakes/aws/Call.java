package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.item.Refusal.filled;

import dev.onefold.fakes.aws.Faults.Timing;
import dev.onefold.fakes.aws.Tally.Operation;
import dev.onefold.fakes.aws.table.Meter;
import dev.onefold.fakes.aws.table.Transactions;
import dev.onefold.fakes.aws.table.Writes;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.InternalServerErrorException;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;
import software.amazon.awssdk.services.dynamodb.model.RequestLimitExceededException;
import software.amazon.awssdk.services.dynamodb.model.ThrottlingException;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionInProgressException;

/// One call of a client: one attempt, or several of the same request, as the SDK makes them.
final class Call<R> {
    private static final List<Fault> EXCLUSIVE = List.of(
            Fault.REQUEST_LOST,
            Fault.REPLY_LOST,
            Fault.ZOMBIE,
            Fault.THROTTLED,
            Fault.ERROR_BEFORE,
            Fault.ERROR_AFTER,
            Fault.CONFLICT);
    private static final Duration BACKOFF_MAX = Duration.ofMillis(100);

    private final SimulatedDynamoDb service;
    private final SimulatedClient client;
    private final Request<R> request;
    private final CompletableFuture<R> answer = new CompletableFuture<>();
    private int attempts;

    /// What is sent.
    ///
    /// @param items of a transaction
    /// @param work what the service does when it arrives; it throws a [DynamoDbException] at once, or
    ///     answers, perhaps later
    record Request<R>(Operation operation, int items, BiConsumer<Meter, Consumer<R>> work) {}

    Call(SimulatedClient client, Request<R> request) {
        this.service = client.service;
        this.client = client;
        this.request = request;
    }

    /// Sends the request for the first time.
    CompletableFuture<R> start() {
        new Attempt().send();
        // As the SDK's own futures: a callback finds its failure in a CompletionException.
        return answer.thenApply(Function.identity());
    }

    /// One request on its way, and its answer.
    final class Attempt {
        private final @Nullable Fault fault = EXCLUSIVE.stream()
                .filter(each -> service.faults().strikes(each, service.random))
                .findFirst()
                .orElse(null);
        private VirtualTime.@Nullable Moment timeout;
        private boolean heard;
        private boolean dropped;

        private void send() {
            if (!client.isAlive()) {
                return;
            }
            attempts++;
            Timing timing = service.faults().timing();
            timeout = service.time.schedule(
                    timing.clientTimeout(),
                    () -> hear(
                            null,
                            ApiCallTimeoutException.create(
                                    timing.clientTimeout().toMillis())));
            boolean breaks = (fault == Fault.REQUEST_LOST || fault == Fault.REPLY_LOST) && service.random.nextBoolean();
            if (breaks) {
                reply(null, SdkClientException.create("Unable to execute HTTP request: connection reset"));
            }
            Duration way = service.upTo(timing.networkMax());
            if (fault == Fault.ZOMBIE) {
                way = way.plus(timing.clientTimeout()).plus(service.upTo(timing.zombieMax()));
            }
            client.sent(this);
            service.time.schedule(way, this::arrive);
        }

        /// Its client died before it arrived.
        void drop() {
            dropped = true;
        }

        private void arrive() {
            client.arrived(this);
            if (dropped || fault == Fault.REQUEST_LOST) {
                return;
            }
            service.tally().count(request.operation);
            DynamoDbException refusal = refusal();
            if (refusal != null) {
                refuse(refusal);
                return;
            }
            Meter meter = new Meter();
            try {
                request.work.accept(meter, response -> {
                    boolean fails = fault == Fault.ERROR_AFTER;
                    reply(fails ? null : response, fails ? failure() : null);
                });
            } catch (DynamoDbException failed) {
                refuse(failed);
            } finally {
                service.tally().add(meter);
            }
        }

        private void refuse(DynamoDbException refusal) {
            service.tally().countFailure(request.operation);
            if (refusal instanceof TransactionCanceledException cancelled) {
                service.tally().countReasons(cancelled);
            }
            reply(null, fault == Fault.ERROR_AFTER ? failure() : refusal);
        }

        private void reply(@Nullable R response, @Nullable SdkException failure) {
            boolean isLost = fault == Fault.REPLY_LOST && !(failure instanceof SdkClientException);
            if (!isLost) {
                R dated = dated(response);
                service.time.schedule(service.upTo(service.faults().timing().networkMax()), () -> hear(dated, failure));
            }
        }

        private void hear(@Nullable R response, @Nullable SdkException failure) {
            if (heard || !client.isAlive()) {
                return;
            }
            heard = true;
            if (timeout != null) {
                service.time.cancel(timeout);
            }
            if (failure == null) {
                answer.complete(response);
            } else if (mayPass(failure) && attempts < service.faults().timing().attemptsMax()) {
                service.time.schedule(service.upTo(BACKOFF_MAX), () -> new Attempt().send());
            } else {
                answer.completeExceptionally(failure);
            }
        }

        private @Nullable DynamoDbException refusal() {
            return switch (fault) {
                case THROTTLED -> throttled();
                case ERROR_BEFORE -> failure();
                case CONFLICT -> conflict();
                case null, default -> null;
            };
        }
    }

    /// Answers say when they were made, in whole seconds.
    @SuppressWarnings("unchecked")
    private @Nullable R dated(@Nullable R response) {
        if (!(response instanceof SdkResponse answer)) {
            return response;
        }
        ZonedDateTime now = service.time.instant().plus(client.dates()).atZone(ZoneOffset.UTC);
        return (R) answer.toBuilder()
                .sdkHttpResponse(SdkHttpResponse.builder()
                        .statusCode(200)
                        .putHeader("Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(now))
                        .build())
                .build();
    }

    private boolean isTransaction() {
        return request.operation == Operation.TRANSACT_WRITE_ITEMS || request.operation == Operation.TRANSACT_GET_ITEMS;
    }

    private @Nullable DynamoDbException conflict() {
        return switch (request.operation) {
            case TRANSACT_WRITE_ITEMS, TRANSACT_GET_ITEMS -> cancelled("TransactionConflict");
            case PUT_ITEM, UPDATE_ITEM, DELETE_ITEM -> Writes.conflict();
            case CREATE_TABLE, DESCRIBE_TABLE, GET_ITEM, BATCH_GET_ITEM, QUERY, SCAN, BATCH_WRITE_ITEM -> null;
        };
    }

    private DynamoDbException cancelled(String code) {
        return Transactions.cancelled(request.items, service.random.nextInt(Math.max(1, request.items)), code);
    }

    private DynamoDbException throttled() {
        int form = service.random.nextInt(isTransaction() ? 5 : 3);
        return switch (form) {
            case 0 -> throughputExceeded();
            case 1 ->
                filled(ThrottlingException.builder(), "ThrottlingException", "Throughput exceeds the current capacity.")
                        .build();
            case 2 ->
                filled(
                                RequestLimitExceededException.builder(),
                                "RequestLimitExceeded",
                                "Throughput exceeds the current throughput limit for your account.")
                        .build();
            case 3 -> cancelled("ThrottlingError");
            default -> cancelled("ProvisionedThroughputExceeded");
        };
    }

    static DynamoDbException throughputExceeded() {
        return filled(
                        ProvisionedThroughputExceededException.builder(),
                        "ProvisionedThroughputExceededException",
                        "The level of configured provisioned throughput for the table was exceeded.")
                .build();
    }

    private static DynamoDbException failure() {
        return filled(InternalServerErrorException.builder(), "InternalServerError", "Internal server error")
                .build();
    }

    private static boolean mayPass(SdkException failure) {
        return switch (failure) {
            case SdkClientException _,
                    InternalServerErrorException _,
                    ProvisionedThroughputExceededException _,
                    ThrottlingException _,
                    RequestLimitExceededException _,
                    TransactionInProgressException _ -> true;
            default -> false;
        };
    }
}
