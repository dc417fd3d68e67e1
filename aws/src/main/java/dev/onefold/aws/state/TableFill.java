package dev.onefold.aws.state;

import dev.onefold.aws.item.ArrivalTimes;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.map.Delta;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.reduce.Commit.PendingDelta;
import dev.onefold.core.reduce.DeltaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Adds the rows of a function's tables to a view, while nobody writes them. What some rows come to is put, as
/// deltas, in one transaction with the number of these rows' part; so each row is added once, whatever becomes
/// of a request.
///
///     item = k 00 "tables", i incarnation, n how many parts are in
public final class TableFill {
    private static final int DELTA_ITEMS_MAX = 20 * KeyStep.DELTA_ITEMS_MAX; // In one transaction.
    private static final long BYTES_MAX = KeyStep.BYTES_MAX / 2; // One more row has fewer than the other half.

    private final Store store;
    private final Definitions definitions;
    private final Definition definition;
    private final int view;
    private final Feeds feeds;
    private Delta sum = Delta.NOTHING;
    private long parts;
    private long rows;

    private TableFill(Store store, Definition definition, int view, Feeds feeds) {
        this.store = store;
        this.definition = definition;
        this.view = view;
        this.feeds = feeds;
        definitions = new Definitions(store);
    }

    /// Fills a view that is empty. When it is done, the deltas are visible.
    ///
    /// @param definition of an incarnation in which this was not done before
    /// @return how many rows there are
    public static long fill(Store store, Definition definition, int view) {
        Pipeline pipeline = definition.servedView().pipeline();
        Processing processing = (Processing) pipeline.fold();
        List<OutputTable> tables = OutputTable.of(pipeline, processing);
        TableFill filling = new TableFill(store, definition, view, new Feeds(processing));
        for (int table = 0; table < tables.size(); table++) {
            if (filling.feeds.isFed(table)) {
                filling.add(table, tables.get(table));
            }
        }
        filling.write();
        store.threads().pause(Store.IN_FLIGHT_MAX);
        return filling.rows;
    }

    private void add(int table, OutputTable output) {
        Queries.scan(store, store.tables().output(output.name()), page -> {
            for (Map<String, AttributeValue> item : page) {
                output.read(item);
                sum = sum.plus(FeedDeltas.of(feeds, table, OutputTable.content(item)));
                rows++;
                if (sum.items() >= DELTA_ITEMS_MAX || sum.bytes() >= BYTES_MAX) {
                    write();
                }
            }
        });
    }

    private void write() {
        if (sum.isNothing()) {
            return;
        }
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(definitions.check(definition, definitions.anyGate(definition)));
        items.add(TransactWriteItem.builder().put(next()).build());
        for (Delta part : FeedDeltas.parts(sum, KeyStep.DELTA_ITEMS_MAX)) {
            items.add(TransactWriteItem.builder().put(put(part)).build());
        }
        for (int attempt = 1; !isIn(store.transact(items)); attempt++) {
            store.backOff(attempt);
        }
        parts++;
        sum = Delta.NOTHING;
    }

    private boolean isIn(Store.Written written) {
        if (written instanceof Store.Written.Refused refused && refused.failed(0)) {
            throw new RowFill.Overtaken(view);
        }
        if (written instanceof Store.Written.Done) {
            return true;
        }
        Map<String, AttributeValue> now = store.get(store.tables().rows(), key());
        return !now.isEmpty()
                && Items.text(now, Incarnation.ID)
                        .equals(definition.incarnation().id())
                && Items.number(now, "n") > parts;
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("tables");
    }

    private Put next() {
        AttributeValue incarnation =
                AttributeValue.fromS(definition.incarnation().id());
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put(Incarnation.ID, incarnation);
        item.put("n", Items.number(parts + 1));
        Map<String, AttributeValue> values = new TreeMap<>(Map.of(":i", incarnation));
        if (parts > 0) {
            values.put(":n", Items.number(parts));
        }
        return Put.builder()
                .tableName(store.tables().rows())
                .item(item)
                .conditionExpression(parts == 0 ? "attribute_not_exists(i) OR i < :i" : "i = :i AND n = :n")
                .expressionAttributeValues(values)
                .build();
    }

    private Put put(Delta part) {
        DeltaItem delta = new DeltaItem(
                new PendingDelta(
                        new DeltaId((int) (parts % definition.lanes()), store.newId()),
                        Set.of(),
                        new ViewDeltas(new TreeMap<>(Map.of(view, part)))),
                definition.incarnation().id(),
                store.clock().instant(),
                ArrivalTimes.NONE);
        return Put.builder()
                .tableName(store.tables().deltas())
                .item(delta.item())
                .build();
    }
}
