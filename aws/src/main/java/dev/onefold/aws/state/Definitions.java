package dev.onefold.aws.state;

import dev.onefold.aws.Futures;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Reads and changes the definition of a deployment; see [Definition].
public final class Definitions {
    /// About a second and a half, on the average.
    private static final int MAKER_ATTEMPTS_MAX = 7;

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

    /// The definition comes last: whoever finds it finds its gates, too. A stream with many shards starts many
    /// functions at once, and a new table takes 4,000 units a second. So a function that finds the first gate there
    /// leaves the others to its maker, for a while.
    private CompletableFuture<Definition> create(Definition definition) {
        return putIfAbsent(gateItem(0, definition.epoch()))
                .thenCompose(made -> made ? createAll(definition) : awaitOrCreate(definition, 1));
    }

    private CompletableFuture<Definition> awaitOrCreate(Definition definition, int attempt) {
        return store.backOff(attempt)
                .thenCompose(_ -> find())
                .thenCompose(found -> found.map(CompletableFuture::completedFuture)
                        .orElseGet(() -> attempt < MAKER_ATTEMPTS_MAX
                                ? awaitOrCreate(definition, attempt + 1)
                                : createAll(definition)));
    }

    private CompletableFuture<Definition> createAll(Definition definition) {
        return atOnce(definition, gate -> putIfAbsent(gateItem(gate, definition.epoch())))
                .thenCompose(_ -> putIfAbsent(definition.item()))
                .thenCompose(_ -> load());
    }

    /// Does something with each gate, all at once.
    private static CompletableFuture<Void> atOnce(Definition definition, IntFunction<CompletableFuture<?>> action) {
        return CompletableFuture.allOf(
                IntStream.range(0, definition.gates()).mapToObj(action).toArray(CompletableFuture[]::new));
    }

    private static Map<String, AttributeValue> gateItem(int gate, long epoch) {
        Map<String, AttributeValue> item = new java.util.TreeMap<>(Definition.gate(gate));
        item.put(Definition.EPOCH, Items.number(epoch));
        return item;
    }

    /// Whether it was absent.
    private CompletableFuture<Boolean> putIfAbsent(Map<String, AttributeValue> item) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(item)
                                .conditionExpression("attribute_not_exists(k)")))
                .handle((_, failure) -> isConditionMet(failure));
    }

    private static boolean isConditionMet(@Nullable Throwable failure) {
        if (failure != null && !(Futures.cause(failure) instanceof ConditionalCheckFailedException)) {
            throw new CompletionException(Futures.cause(failure));
        }
        return failure == null;
    }

    /// Replaces a definition by the next one, and moves the gates; when it is done, nothing can be written under an
    /// older one any more.
    ///
    /// @return the definition now; another one if somebody else was faster
    public CompletableFuture<Definition> replace(Definition next) {
        return new Claims(store)
                .note(next)
                .thenCompose(_ -> store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(next.item())
                                .conditionExpression("e = :before")
                                .expressionAttributeValues(Map.of(":before", Items.number(next.epoch() - 1))))))
                .handle((_, failure) -> isConditionMet(failure))
                .thenCompose(_ -> load())
                .thenCompose(now -> moveGates(now).thenApply(_ -> now));
    }

    /// Keeps the pipeline of the view that serves, before another one does.
    public CompletableFuture<Void> keepServed(Definition definition) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(Definition.pastView(definition.servedView()))))
                .thenApply(_ -> null);
    }

    /// The pipeline of a view that served before; empty if it is not known.
    public CompletableFuture<Optional<Pipeline>> past(int view) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.pastView(view))
                                .consistentRead(true)))
                .thenApply(response -> response.item().isEmpty()
                        ? Optional.empty()
                        : Optional.of(Definition.pipeline(response.item())));
    }

    /// Moves all gates to the epoch of a definition; those that are there or further stay.
    public CompletableFuture<Void> moveGates(Definition definition) {
        return atOnce(definition, gate -> moveGate(gate, definition.epoch()));
    }

    /// Moves one gate to an epoch, unless it is there or further.
    CompletableFuture<Void> moveGate(int gate, long epoch) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.gate(gate))
                                .updateExpression("SET e = :epoch")
                                .conditionExpression("e < :epoch")
                                .expressionAttributeValues(Map.of(":epoch", Items.number(epoch)))))
                .handle((_, failure) -> isConditionMet(failure))
                .thenAccept(_ -> {});
    }

    int anyGate(Definition definition) {
        return store.random().nextInt(definition.gates());
    }

    /// The check that a transaction which writes rows begins with.
    TransactWriteItem check(Definition definition, int gate) {
        return TransactWriteItem.builder()
                .conditionCheck(ConditionCheck.builder()
                        .tableName(store.tables().rows())
                        .key(Definition.gate(gate))
                        .conditionExpression("e = :epoch")
                        .expressionAttributeValues(Map.of(":epoch", Items.number(definition.epoch())))
                        .build())
                .build();
    }
}
