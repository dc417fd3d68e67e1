package dev.onefold.aws.state;

import dev.onefold.aws.Futures;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Reads and changes the definition of a deployment; see [Definition].
public final class Definitions {
    private final Store store;

    public Definitions(Store store) {
        this.store = store;
    }

    /// The definition, which is made of this pipeline if there is none yet. Making it twice at once makes it once.
    public CompletableFuture<Definition> openOrCreate(Pipeline pipeline, int lanes, int gates) {
        return find().thenCompose(found -> found.map(CompletableFuture::completedFuture)
                .orElseGet(() -> create(Definition.first(pipeline, lanes, gates))));
    }

    /// The definition as it is now.
    public CompletableFuture<Definition> load() {
        return find().thenApply(
                        found -> found.orElseThrow(
                                () -> new IllegalStateException(
                                        "Table "
                                                + store.tables().rows()
                                                + " holds no definition: nothing was deployed there, no record has come yet, or the table was replaced.")));
    }

    /// The definition as it is now, if there is one.
    public CompletableFuture<Optional<Definition>> find() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.key())
                                .consistentRead(true)))
                .thenApply(response ->
                        response.item().isEmpty() ? Optional.empty() : Optional.of(Definition.of(response.item())));
    }

    /// The definition comes last: whoever finds it finds its gates, too.
    private CompletableFuture<Definition> create(Definition definition) {
        List<Map<String, AttributeValue>> items = new ArrayList<>();
        for (int gate = 0; gate < definition.gates(); gate++) {
            items.add(gateItem(gate, definition.epoch()));
        }
        items.add(definition.item());
        CompletableFuture<Void> made = CompletableFuture.completedFuture(null);
        for (Map<String, AttributeValue> item : items) {
            made = made.thenCompose(_ -> putIfAbsent(item));
        }
        return made.thenCompose(_ -> load());
    }

    private static Map<String, AttributeValue> gateItem(int gate, long epoch) {
        Map<String, AttributeValue> item = new java.util.TreeMap<>(Definition.gate(gate));
        item.put(Definition.EPOCH, Items.number(epoch));
        return item;
    }

    private CompletableFuture<Void> putIfAbsent(Map<String, AttributeValue> item) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(item)
                                .conditionExpression("attribute_not_exists(k)")))
                .handle((_, failure) -> allowConditionFailure(failure));
    }

    private static Void allowConditionFailure(Throwable failure) {
        if (failure != null && !(Futures.cause(failure) instanceof ConditionalCheckFailedException)) {
            throw new CompletionException(Futures.cause(failure));
        }
        return null;
    }

    /// Replaces a definition by the next one, and moves the gates; when it is done, nothing can be written under an
    /// older one any more.
    ///
    /// @return the definition now; another one if somebody else was faster
    public CompletableFuture<Definition> replace(Definition next) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(next.item())
                                .conditionExpression("e = :before")
                                .expressionAttributeValues(Map.of(":before", Items.number(next.epoch() - 1)))))
                .handle((_, failure) -> allowConditionFailure(failure))
                .thenCompose(_ -> load())
                .thenCompose(now -> moveGates(now).thenApply(_ -> now));
    }

    /// Moves all gates to the epoch of a definition; those that are there or further stay.
    public CompletableFuture<Void> moveGates(Definition definition) {
        return CompletableFuture.allOf(IntStream.range(0, definition.gates())
                .mapToObj(gate -> moveGate(gate, definition.epoch()))
                .toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> moveGate(int gate, long epoch) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.gate(gate))
                                .updateExpression("SET e = :epoch")
                                .conditionExpression("e < :epoch")
                                .expressionAttributeValues(Map.of(":epoch", Items.number(epoch)))))
                .handle((_, failure) -> allowConditionFailure(failure));
    }

    /// The check that a transaction which writes rows begins with.
    TransactWriteItem check(Definition definition) {
        return TransactWriteItem.builder()
                .conditionCheck(ConditionCheck.builder()
                        .tableName(store.tables().rows())
                        .key(Definition.gate(store.random().nextInt(definition.gates())))
                        .conditionExpression("e = :epoch")
                        .expressionAttributeValues(Map.of(":epoch", Items.number(definition.epoch())))
                        .build())
                .build();
    }
}
