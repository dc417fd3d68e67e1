package dev.onefold.aws.upkeep;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DeleteRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// Deletes the totals of views that the definition does not have any more. Only after all gates were moved and
/// all deltas of before were added: then nothing can add to them again. A reader that races with this reads the
/// definition again and discards what it read.
///
/// item = k 00 "cleaned", m all views up to this number are gone, but for s those that the definition had then
final class TotalsCleaner {
    private static final int ITEMS_PER_REQUEST = 25;

    private final Store store;
    private final BooleanSupplier goesOn;

    private TotalsCleaner(Store store, BooleanSupplier goesOn) {
        this.store = store;
        this.goesOn = goesOn;
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("cleaned");
    }

    /// The views that there were once, and whose totals may still stand there.
    static Set<Integer> left(Store store, Definition definition) {
        Map<String, AttributeValue> cleaned = store.get(store.tables().rows(), key());
        Set<Integer> left = new TreeSet<>();
        int upTo = 0;
        if (!cleaned.isEmpty()) {
            upTo = (int) Items.number(cleaned, "m");
            Items.require(cleaned, "s").ns().forEach(view -> left.add(Integer.parseInt(view)));
        }
        for (int view = upTo + 1; view <= definition.last(); view++) {
            left.add(view);
        }
        definition.views().forEach(view -> left.remove(view.number()));
        return left;
    }

    /// Deletes what is left of these views. Whether all of it is gone.
    static boolean clean(Store store, Definition definition, Set<Integer> views, BooleanSupplier goesOn) {
        List<String> stripes = new ArrayList<>();
        for (int view : views) {
            for (int lane = 0; lane < definition.lanes(); lane++) {
                stripes.add(TotalsKey.partition(view, lane));
            }
        }
        TotalsCleaner cleaning = new TotalsCleaner(store, goesOn);
        boolean all = !store.threads().all(stripes, cleaning::stripe).contains(false);
        if (all) {
            note(
                    store,
                    definition.last(),
                    new TreeSet<>(definition.views().stream()
                            .map(Definition.View::number)
                            .toList()));
        }
        return all;
    }

    /// Notes that all views up to a number are gone, but for some; unless more was noted already.
    static void note(Store store, int last, Set<Integer> but) {
        TreeMap<String, AttributeValue> item = new TreeMap<>(key());
        item.put("m", Items.number(last));
        item.put("s", AttributeValue.fromNs(but.stream().map(String::valueOf).toList()));
        store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression("attribute_not_exists(m) OR m <= :m")
                        .expressionAttributeValues(Map.of(":m", Items.number(last)))));
    }

    /// Whether all of it is gone.
    private boolean stripe(String partition) {
        if (!goesOn.getAsBoolean()) {
            return false;
        }
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().totals())
                .keyConditionExpression("p = :p")
                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(partition)))
                .projectionExpression(String.join(", ", TotalsKey.PARTITION, TotalsKey.GROUP))
                .consistentRead(true)
                .build();
        QueryResponse last = Queries.pages(store, request, page -> {
            delete(page);
            return goesOn.getAsBoolean();
        });
        return last.lastEvaluatedKey().isEmpty();
    }

    private void delete(QueryResponse page) {
        List<WriteRequest> deletes = page.items().stream()
                .map(item -> WriteRequest.builder()
                        .deleteRequest(DeleteRequest.builder().key(item).build())
                        .build())
                .toList();
        String table = store.tables().totals();
        for (List<WriteRequest> some : Parts.of(deletes, ITEMS_PER_REQUEST)) {
            List<WriteRequest> left = some;
            for (int attempt = 1; ; attempt++) {
                Map<String, List<WriteRequest>> requested = Map.of(table, left);
                left = store.retried(() -> store.client().batchWriteItem(request -> request.requestItems(requested)))
                        .unprocessedItems()
                        .getOrDefault(table, List.of());
                if (left.isEmpty()) {
                    break;
                }
                store.backOff(attempt);
            }
        }
    }
}
