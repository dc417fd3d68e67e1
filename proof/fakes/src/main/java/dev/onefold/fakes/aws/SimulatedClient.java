package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.Tally.Operation;
import dev.onefold.fakes.aws.table.Meter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.CreateTableResponse;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/// The SDK's client, as one process has it. When the process is killed, nothing that it waits for ever completes.
///
/// An operation that is not overridden here fails, as the SDK's interface has it.
public final class SimulatedClient implements DynamoDbAsyncClient, FakeClient {
    final SimulatedDynamoDb service;

    private final String name;
    private final List<Call<?>.Attempt> underway = new ArrayList<>();
    private boolean alive = true;
    private Duration dates = Duration.ZERO;

    SimulatedClient(SimulatedDynamoDb service, String name) {
        this.service = service;
        this.name = name;
    }

    /// Kills the process. What it has sent may still arrive, unless [Fault#DIES_WITH_CLIENT] strikes.
    public void kill() {
        alive = false;
        underway.removeIf(attempt -> {
            boolean dies = service.faults().strikes(Fault.DIES_WITH_CLIENT, service.random);
            if (dies) {
                attempt.drop();
            }
            return dies;
        });
    }

    /// The same with a service that is so much ahead of the others, or behind them if this is negative.
    public SimulatedClient dating(Duration ahead) {
        dates = ahead;
        return this;
    }

    Duration dates() {
        return dates;
    }

    public boolean isAlive() {
        return alive;
    }

    /// A future that completes after a delay, if the process still lives then.
    public CompletableFuture<@Nullable Void> after(Duration delay) {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        service.time.schedule(delay, () -> {
            if (alive) {
                future.complete(null);
            }
        });
        return future;
    }

    void sent(Call<?>.Attempt attempt) {
        underway.add(attempt);
    }

    void arrived(Call<?>.Attempt attempt) {
        underway.remove(attempt);
    }

    private <R> CompletableFuture<R> call(Operation operation, Function<Meter, R> work) {
        return call(operation, 0, (meter, answer) -> answer.accept(work.apply(meter)));
    }

    private <R> CompletableFuture<R> call(Operation operation, int items, BiConsumer<Meter, Consumer<R>> work) {
        return new Call<>(this, new Call.Request<>(operation, items, work)).start();
    }

    @Override
    public CompletableFuture<CreateTableResponse> createTable(CreateTableRequest request) {
        return call(
                Operation.CREATE_TABLE,
                _ -> service.tables.createTable(
                        request, service.faults().timing().creation()));
    }

    @Override
    public CompletableFuture<DescribeTableResponse> describeTable(DescribeTableRequest request) {
        return call(Operation.DESCRIBE_TABLE, _ -> service.tables.describeTable(request));
    }

    @Override
    public CompletableFuture<GetItemResponse> getItem(GetItemRequest request) {
        return call(Operation.GET_ITEM, meter -> service.reads.get(request, meter));
    }

    @Override
    public CompletableFuture<BatchGetItemResponse> batchGetItem(BatchGetItemRequest request) {
        return call(Operation.BATCH_GET_ITEM, meter -> service.reads.batch(request, meter, this::skips));
    }

    @Override
    public CompletableFuture<PutItemResponse> putItem(PutItemRequest request) {
        return call(Operation.PUT_ITEM, meter -> {
            service.requireRoom(request.item());
            return service.writes.put(request, meter);
        });
    }

    @Override
    public CompletableFuture<UpdateItemResponse> updateItem(UpdateItemRequest request) {
        return call(Operation.UPDATE_ITEM, meter -> service.writes.update(request, meter));
    }

    @Override
    public CompletableFuture<DeleteItemResponse> deleteItem(DeleteItemRequest request) {
        return call(Operation.DELETE_ITEM, meter -> {
            service.requireRoom(request.key());
            return service.writes.delete(request, meter);
        });
    }

    @Override
    public CompletableFuture<BatchWriteItemResponse> batchWriteItem(BatchWriteItemRequest request) {
        return call(Operation.BATCH_WRITE_ITEM, meter -> service.writes.batch(request, meter, this::skips));
    }

    @Override
    public CompletableFuture<QueryResponse> query(QueryRequest request) {
        return call(Operation.QUERY, meter -> service.searches.query(request, meter));
    }

    @Override
    public CompletableFuture<ScanResponse> scan(ScanRequest request) {
        return call(Operation.SCAN, meter -> service.searches.scan(request, meter));
    }

    /// Without a token the SDK makes one, the same for all its attempts.
    @Override
    public CompletableFuture<TransactWriteItemsResponse> transactWriteItems(TransactWriteItemsRequest request) {
        TransactWriteItemsRequest named = request.clientRequestToken() != null
                ? request
                : request.toBuilder()
                        .clientRequestToken(new UUID(service.random.nextLong(), service.random.nextLong()).toString())
                        .build();
        return call(
                Operation.TRANSACT_WRITE_ITEMS,
                request.transactItems().size(),
                (meter, answer) -> service.transactWrite(named, meter, answer));
    }

    @Override
    public CompletableFuture<TransactGetItemsResponse> transactGetItems(TransactGetItemsRequest request) {
        return call(
                Operation.TRANSACT_GET_ITEMS,
                request.transactItems().size(),
                (meter, answer) -> answer.accept(service.reads.transaction(request, meter)));
    }

    private boolean skips() {
        return service.faults().strikes(Fault.UNPROCESSED, service.random);
    }

    @Override
    public String toString() {
        return "SimulatedClient " + name;
    }
}
