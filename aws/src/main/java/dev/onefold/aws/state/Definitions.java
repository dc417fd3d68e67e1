package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Instant;
import java.util.List;
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
                .orElseGet(() -> TableIds.ask(store)
                        .thenCompose(tables -> create(Definition.first(
                                pipeline,
                                lanes,
                                gates,
                                new Incarnation(
                                        store.newId(),
                                        tables.stream().map(TableIds.Found::id).toList()))))));
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

    /// The definition as it is now, if there is one. It fails if a table was restored, or made anew, and nobody
    /// has told the deployment.
    public CompletableFuture<Optional<Definition>> find() {
        return findAnyhow()
                .thenCompose(found -> found.isEmpty()
                        ? CompletableFuture.completedFuture(found)
                        : requireTables(found.get()).thenApply(_ -> found));
    }

    /// Fails if a table was restored since a process of ours has looked last, which must be within a minute: for who
    /// needs no definition.
    public CompletableFuture<Void> requireTables() {
        return store.ids().isValid(store.clock().instant())
                ? CompletableFuture.completedFuture(null)
                : find().thenApply(_ -> null);
    }

    private CompletableFuture<Void> requireTables(Definition definition) {
        List<String> known = definition.incarnation().tables();
        Instant asked = store.clock().instant();
        if (store.ids().isValid(known, asked)) {
            return CompletableFuture.completedFuture(null);
        }
        return TableIds.ask(store).thenAccept(found -> {
            for (int table = 0; table < known.size(); table++) {
                if (!found.get(table).id().equals(known.get(table))) {
                    throw new OtherTable(found.get(table));
                }
            }
            store.ids().note(known, asked);
        });
    }

    /// A table was restored from a backup, or replaced by another one.
    public static final class OtherTable extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        OtherTable(TableIds.Found table) {
            super("Table " + table.name() + " was restored from a backup, or replaced by another one, at "
                    + table.created() + ": its totals, rows and deltas may be from different times. Nothing is written"
                    + " or answered until 'onefold aws restored' has been run.");
        }
    }

    /// The definition as it is now, if there is one, whatever the tables are.
    public CompletableFuture<Optional<Definition>> findAnyhow() {
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
        return putIfAbsent(gateItem(0, definition))
                .thenCompose(made -> requireNew()
                        .thenCompose(_ -> made
                                ? createAll(definition)
                                : adopted(definition).thenCompose(adopted -> awaitOrCreate(adopted, 1))));
    }

    /// Where rows were emptied and totals were not, nothing is begun anew.
    private CompletableFuture<Void> requireNew() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().totals())
                                .key(Header.keyOf(0))
                                .consistentRead(true)))
                .thenCompose(response -> response.item().isEmpty()
                        ? CompletableFuture.completedFuture(null)
                        : findAnyhow().thenAccept(found -> {
                            if (found.isEmpty()) {
                                throw new IllegalStateException(
                                        "Table " + store.tables().rows()
                                                + " holds no definition, and "
                                                + store.tables().totals()
                                                + " holds totals. The table of rows was emptied, or replaced. Restore it from a"
                                                + " backup, and run 'onefold aws restored'; or empty the other tables, too.");
                            }
                        }));
    }

    /// The first gate says in which incarnation all are made, whoever makes them.
    private CompletableFuture<Definition> adopted(Definition definition) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.gate(0))
                                .consistentRead(true)))
                .thenApply(response -> new Definition(
                        definition.epoch(),
                        new Incarnation(
                                Items.text(response.item(), Incarnation.ID),
                                definition.incarnation().tables()),
                        definition.lanes(),
                        definition.gates(),
                        definition.served(),
                        definition.last(),
                        definition.views()));
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
        return atOnce(definition, gate -> putIfAbsent(gateItem(gate, definition)))
                .thenCompose(_ -> putIfAbsent(definition.item()))
                .thenCompose(_ -> load());
    }

    /// Does something with each gate, all at once.
    private static CompletableFuture<Void> atOnce(Definition definition, IntFunction<CompletableFuture<?>> action) {
        return CompletableFuture.allOf(
                IntStream.range(0, definition.gates()).mapToObj(action).toArray(CompletableFuture[]::new));
    }

    private static Map<String, AttributeValue> gateItem(int gate, Definition definition) {
        Map<String, AttributeValue> item = new java.util.TreeMap<>(Definition.gate(gate));
        item.put(Definition.EPOCH, Items.number(definition.epoch()));
        item.put(Incarnation.ID, AttributeValue.fromS(definition.incarnation().id()));
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
                .thenCompose(_ -> put(next, next.incarnation().id()))
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

    /// Puts a definition in the place of the one before, if that is still the one that it was made of.
    ///
    /// @param incarnation of the one before
    public CompletableFuture<Boolean> put(Definition next, String incarnation) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(next.item())
                                .conditionExpression("e = :before AND i = :i")
                                .expressionAttributeValues(Map.of(
                                        ":before",
                                        Items.number(next.epoch() - 1),
                                        ":i",
                                        AttributeValue.fromS(incarnation)))))
                .handle((_, failure) -> isConditionMet(failure));
    }

    /// Moves all gates to the epoch of a definition; those that are there or further stay.
    public CompletableFuture<Void> moveGates(Definition definition) {
        return atOnce(definition, gate -> moveGate(gate, definition));
    }

    /// Moves one gate to the epoch of a definition, unless it is there or further. A later incarnation is further,
    /// whatever its epoch is: a request from before a restore moves nothing.
    CompletableFuture<Void> moveGate(int gate, Definition definition) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().rows())
                                .key(Definition.gate(gate))
                                .updateExpression("SET e = :epoch, i = :i")
                                .conditionExpression("i < :i OR (i = :i AND e < :epoch)")
                                .expressionAttributeValues(values(definition))))
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
                        .conditionExpression("e = :epoch AND i = :i")
                        .expressionAttributeValues(values(definition))
                        .build())
                .build();
    }

    private static Map<String, AttributeValue> values(Definition definition) {
        return Map.of(
                ":epoch", Items.number(definition.epoch()),
                ":i", AttributeValue.fromS(definition.incarnation().id()));
    }
}
