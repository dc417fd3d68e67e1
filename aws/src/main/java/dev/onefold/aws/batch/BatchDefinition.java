package dev.onefold.aws.batch;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.OtherTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The pipeline that a deployment collects for, and the number of its lanes. How records are read and told apart
/// is fixed for the life of a deployment, because their claims are stored; so is the number of lanes.
///
///     item = k 00 "batches", t canonical text of the pipeline, n lanes, i incarnation, d ids of the tables
///
/// A process that collects, seals or delivers has found within the last minute that the tables are those of the
/// definition. After a restore they are not, until [BatchesRestored] has run; see
/// `docs/internals/decisions/011-incarnations.md`.
///
/// @param pipeline as it was deployed last
/// @param lanes number of lanes at the first deployment
/// @param incarnation greater than all before; never given twice
/// @param tables ids of the tables of rows, deltas and letters; empty texts while the deployment is closed. An earlier
///     version wrote none
/// @param text of the pipeline, as the table has it or is to have it
public record BatchDefinition(Pipeline pipeline, int lanes, String incarnation, List<String> tables, String text) {
    public BatchDefinition {
        tables = List.copyOf(tables);
    }

    private BatchDefinition(Pipeline pipeline, int lanes, String incarnation, List<String> tables) {
        this(pipeline, lanes, incarnation, tables, PipelineText.stored(pipeline));
    }

    /// One that was not asked for its tables.
    public BatchDefinition(Pipeline pipeline, int lanes) {
        this(pipeline, lanes, "", List.of());
    }

    private static final int TABLES = 3;
    private static final String SAME = "i = :i AND d = :d";

    private static Map<String, AttributeValue> key() {
        return RowItem.other("batches");
    }

    /// The definition of a deployment; empty if it has never collected anything.
    ///
    /// @throws OtherTable if a table was restored or recreated, and nobody has told the deployment
    public static Optional<BatchDefinition> find(Store store) {
        Optional<BatchDefinition> found = findAnyhow(store);
        found.ifPresent(definition -> TableIds.require(store, definition.tables, names(store)));
        return found;
    }

    /// Fails if a table was restored since this process has looked last, which must be within a minute.
    static void requireKnownTables(Store store) {
        if (!store.ids().isValid(store.clock().instant())) {
            find(store);
        }
    }

    /// Whether a table is another one than this names. Where it names none, one that was restored is.
    boolean isOther(int table, TableIds.Found found) {
        return TableIds.isOther(tables, table, found);
    }

    /// The tables that there are.
    static List<TableIds.Found> tablesOf(Store store) {
        return TableIds.ask(store, names(store));
    }

    private static List<String> names(Store store) {
        Store.Tables tables = store.tables();
        return List.of(tables.rows(), tables.deltas(), tables.letters());
    }

    private static List<String> ids(Store store) {
        return tablesOf(store).stream().map(TableIds.Found::id).toList();
    }

    /// The definition, whatever the tables are.
    static Optional<BatchDefinition> findAnyhow(Store store) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return item.isEmpty() ? Optional.empty() : Optional.of(of(item));
    }

    /// The definition of a deployment, which is made of this pipeline if there is none yet. Another one is brought to
    /// this pipeline, if that is possible.
    ///
    /// @param lanes of a new deployment
    /// @throws IllegalStateException if the deployment was made for a pipeline that reads records otherwise
    public static BatchDefinition openOrCreate(Store store, Pipeline pipeline, int lanes) {
        if (find(store).isEmpty()) {
            BatchDefinition first =
                    new BatchDefinition(pipeline.inEdition(Edition.NEWEST), lanes, store.newId(), ids(store));
            boolean _ = store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().rows())
                            .item(first.item())
                            .conditionExpression("attribute_not_exists(k)")));
        }
        BatchDefinition found = find(store).orElseThrow();
        Definition.requireRules(found.pipeline);
        Pipeline wanted = pipeline.ofDataOf(found.pipeline);
        found.requireSameRecords(wanted);
        boolean isKnown = !found.tables.isEmpty();
        BatchDefinition now = new BatchDefinition(
                wanted, found.lanes, isKnown ? found.incarnation : store.newId(), isKnown ? found.tables : ids(store));
        if (!isKnown || !found.text().equals(now.text())) {
            now.replace(store, found);
        }
        return now;
    }

    /// Puts this one in the place of the one before; not if somebody else has replaced that one meanwhile.
    void replace(Store store, BatchDefinition before) {
        boolean hasTables = !before.tables.isEmpty();
        boolean _ = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item())
                        .conditionExpression("t = :t AND " + (hasTables ? SAME : "attribute_not_exists(i)"))
                        .expressionAttributeValues(
                                hasTables
                                        ? Map.of(
                                                ":t", AttributeValue.fromS(before.text()),
                                                ":i", AttributeValue.fromS(before.incarnation),
                                                ":d", ids(before.tables))
                                        : Map.of(":t", AttributeValue.fromS(before.text())))));
    }

    /// Whether this is what the table holds.
    boolean isStored(Store store) {
        return findAnyhow(store)
                .filter(found -> found.incarnation.equals(incarnation) && found.tables.equals(tables))
                .isPresent();
    }

    /// The same in a new incarnation that names no tables: every process is refused, but the one that closed it.
    BatchDefinition closed(Store store) {
        String id = store.newId(); // Begins with the time, of a clock that may be behind the one of before.
        return new BatchDefinition(
                pipeline,
                lanes,
                id.compareTo(incarnation) > 0 ? id : incarnation + "+" + id,
                Collections.nCopies(TABLES, ""));
    }

    /// The same with the tables that there are.
    BatchDefinition opened(Store store) {
        return new BatchDefinition(pipeline, lanes, incarnation, ids(store));
    }

    /// That nobody else has closed or opened the deployment since this definition was put.
    TransactWriteItem check(Store store) {
        return TransactWriteItem.builder()
                .conditionCheck(check -> check.tableName(store.tables().rows())
                        .key(key())
                        .conditionExpression(SAME)
                        .expressionAttributeValues(Map.of(":i", AttributeValue.fromS(incarnation), ":d", ids(tables))))
                .build();
    }

    private static AttributeValue ids(List<String> tables) {
        return AttributeValue.fromL(tables.stream().map(AttributeValue::fromS).toList());
    }

    private static boolean isDirect(Pipeline pipeline) {
        return pipeline.fold() instanceof Batching batching && batching.direct();
    }

    private void requireSameRecords(Pipeline other) {
        if (isDirect(pipeline) != isDirect(other)) {
            throw new IllegalStateException("The deployment of " + other.name() + " was made "
                    + (isDirect(pipeline) ? "with" : "without")
                    + " 'direct: true': its receiver knows records by other ids then. Nothing is collected. Deploy the"
                    + " changed pipeline as a stack of its own, with another name in the pipeline file, or write 'direct'"
                    + " as it was.");
        }
        if (!stored(pipeline).equals(stored(other))) {
            throw new IllegalStateException("The deployment of " + other.name() + " was made for a pipeline that reads"
                    + " its records otherwise, or tells them apart otherwise: " + stored(pipeline) + ". Nothing is"
                    + " collected. Deploy the changed pipeline as a stack of its own, with another name in the pipeline"
                    + " file: the receiver knows its batches by that name.");
        }
    }

    private static String stored(Pipeline pipeline) {
        return PipelineText.stored(
                new Pipeline(pipeline.name(), pipeline.input(), pipeline.fold().stored()));
    }

    private static BatchDefinition of(Map<String, AttributeValue> item) {
        return new BatchDefinition(
                Definition.pipeline(item),
                (int) Items.number(item, "n"),
                item.containsKey("i") ? Items.text(item, "i") : "",
                item.containsKey("d")
                        ? item.get("d").l().stream().map(AttributeValue::s).toList()
                        : List.of(),
                Items.text(item, "t"));
    }

    private Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("t", AttributeValue.fromS(text()));
        item.put("n", Items.number(lanes));
        if (!tables.isEmpty()) {
            item.put("i", AttributeValue.fromS(incarnation));
            item.put("d", ids(tables));
        }
        return item;
    }
}
