package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Reads and changes the definition of a deployment; see [Definition].
public final class Definitions {
    /// About a second and a half, on the average.
    private static final int MAKER_ATTEMPTS_MAX = 7;

    private static final String REPLACES = "e = :before AND i = :i";

    private final Store store;

    public Definitions(Store store) {
        this.store = store;
    }

    /// The definition, which is made of this pipeline if there is none yet. Making it twice at once makes it once.
    public Definition openOrCreate(Pipeline pipeline, int lanes, int gates) {
        Optional<Definition> found = find();
        if (found.isPresent()) {
            return found.get();
        }
        Incarnation first = new Incarnation(store.newId(), TableIds.of(store));
        return create(Definition.first(pipeline.inEdition(Edition.NEWEST), lanes, gates, first));
    }

    /// The definition as it is now.
    public Definition load() {
        return find().orElseThrow(() ->
                new IllegalStateException("Table " + store.tables().rows()
                        + " holds no definition: nothing was deployed there, no record has come yet, or the table was"
                        + " replaced."));
    }

    /// The definition as it is now, if there is one. It fails if a table was restored or recreated, and nobody
    /// has told the deployment.
    public Optional<Definition> find() {
        Optional<Definition> found = findAnyhow();
        found.ifPresent(definition -> TableIds.require(
                store, definition.incarnation().tables(), store.tables().names()));
        return found;
    }

    /// Fails if a table was restored since a process of ours has looked last, which must be within a minute: for who
    /// needs no definition.
    public void requireTables() {
        if (!store.ids().isValid(store.clock().instant())) {
            find();
        }
    }

    /// The definition as it is now, if there is one, whatever the tables are.
    public Optional<Definition> findAnyhow() {
        Map<String, AttributeValue> item = row(Definition.key());
        return item.isEmpty() ? Optional.empty() : Optional.of(Definition.of(item));
    }

    private Map<String, AttributeValue> row(Map<String, AttributeValue> key) {
        return store.get(store.tables().rows(), key);
    }

    /// The definition comes last: whoever finds it finds its gates, too. A stream with many shards starts many
    /// functions at once, and a new table takes 4,000 units a second. So a function that finds the first gate there
    /// leaves the others to its maker, for a while.
    private Definition create(Definition definition) {
        boolean made = putIfAbsent(gateItem(0, definition));
        requireNew();
        if (made) {
            return createAll(definition);
        }
        Definition adopted = adopted(definition);
        for (int attempt = 1; attempt <= MAKER_ATTEMPTS_MAX; attempt++) {
            store.backOff(attempt);
            Optional<Definition> found = find();
            if (found.isPresent()) {
                return found.get();
            }
        }
        return createAll(adopted);
    }

    /// Where rows were emptied and totals were not, nothing begins again.
    private void requireNew() {
        if (!store.get(store.tables().totals(), Header.keyOf(0)).isEmpty()
                && findAnyhow().isEmpty()) {
            throw new IllegalStateException("Table " + store.tables().rows() + " holds no definition, and "
                    + store.tables().totals()
                    + " holds totals. The table of rows was emptied, or replaced. Restore it from a"
                    + " backup, and run 'onefold aws restored'; or empty the other tables, too.");
        }
    }

    /// The first gate says in which incarnation all are made, whoever makes them.
    private Definition adopted(Definition definition) {
        return new Definition(
                definition.epoch(),
                new Incarnation(
                        Items.text(row(Definition.gate(0)), Incarnation.ID),
                        definition.incarnation().tables()),
                definition.lanes(),
                definition.gates(),
                definition.served(),
                definition.last(),
                definition.views());
    }

    private Definition createAll(Definition definition) {
        store.threads().each(definition.gates(), gate -> putIfAbsent(gateItem(gate, definition)));
        putIfAbsent(definition.item());
        return load();
    }

    private static Map<String, AttributeValue> gateItem(int gate, Definition definition) {
        Map<String, AttributeValue> item = new java.util.TreeMap<>(Definition.gate(gate));
        item.put(Definition.EPOCH, Items.number(definition.epoch()));
        item.put(Incarnation.ID, AttributeValue.fromS(definition.incarnation().id()));
        return item;
    }

    /// Whether it was absent.
    private boolean putIfAbsent(Map<String, AttributeValue> item) {
        return store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression("attribute_not_exists(k)")));
    }

    /// Replaces a definition by the next one, and moves the gates; when it is done, nothing can be written under an
    /// older one any more.
    ///
    /// @return the definition now; another one if somebody else was faster
    public Definition replace(Definition next) {
        new Claims(store).note(next);
        put(next, next.incarnation().id());
        Definition now = load();
        moveGates(now);
        return now;
    }

    /// Keeps the pipeline of the view that serves, before another one does.
    public void keepServed(Definition definition) {
        store.retried(() -> store.client()
                .putItem(request ->
                        request.tableName(store.tables().rows()).item(Definition.pastView(definition.servedView()))));
    }

    /// The pipeline of a view that served before; empty if it is not known.
    public Optional<Pipeline> past(int view) {
        Map<String, AttributeValue> item = row(Definition.pastView(view));
        return item.isEmpty() ? Optional.empty() : Optional.of(Definition.pipeline(item));
    }

    /// Puts a definition in the place of the one before, if that is still the one that it was made of.
    ///
    /// @param incarnation of the one before
    public void put(Definition next, String incarnation) {
        store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(next.item())
                        .conditionExpression(REPLACES)
                        .expressionAttributeValues(replaced(next, incarnation))));
    }

    /// The write of [#put], for a transaction.
    public TransactWriteItem replacing(Definition next, String incarnation) {
        return TransactWriteItem.builder()
                .put(Put.builder()
                        .tableName(store.tables().rows())
                        .item(next.item())
                        .conditionExpression(REPLACES)
                        .expressionAttributeValues(replaced(next, incarnation))
                        .build())
                .build();
    }

    private static Map<String, AttributeValue> replaced(Definition next, String incarnation) {
        return Map.of(":before", Items.number(next.epoch() - 1), ":i", AttributeValue.fromS(incarnation));
    }

    /// Moves all gates to the epoch of a definition; those that are there or further stay.
    public void moveGates(Definition definition) {
        store.threads().each(definition.gates(), gate -> moveGate(gate, definition));
    }

    /// Moves one gate to the epoch of a definition, unless it is there or further. A later incarnation is further,
    /// whatever its epoch is: a request from before a restore moves nothing.
    void moveGate(int gate, Definition definition) {
        store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(Definition.gate(gate))
                        .updateExpression("SET e = :epoch, i = :i")
                        .conditionExpression("i < :i OR (i = :i AND e < :epoch)")
                        .expressionAttributeValues(values(definition))));
    }

    int anyGate(Definition definition) {
        return store.random().nextInt(definition.gates());
    }

    /// The check that a transaction begins with which changes tables under a definition.
    public TransactWriteItem check(Definition definition) {
        return check(definition, anyGate(definition));
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
