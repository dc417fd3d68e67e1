package dev.onefold.aws.state;

import dev.onefold.aws.Store;
import dev.onefold.aws.item.ArrivalTimes;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.DeltaId;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.Packed;
import dev.onefold.aws.item.Row;
import dev.onefold.core.event.Hash;
import dev.onefold.core.map.Delta;
import dev.onefold.core.state.Contribution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Rows of one lane, and the one delta that they come to: written together, each row on condition that it is what was
/// read.
final class RowTransaction {
    private static final int ROWS_MAX = 90;

    /// What Reduce must be able to add in one transaction, beside the delta itself and the lane's header.
    private static final int TOUCHED_MAX = 90;

    private static final int DELTA_BYTES_MAX = 100_000;
    private static final int BYTES_MAX = 3_000_000;

    private final List<Change> changes = new ArrayList<>();
    private SortedMap<Integer, Delta> deltas = new TreeMap<>();
    private long bytes;

    /// The changes by lane, in as few transactions as the limits allow.
    static List<RowTransaction> pack(Definition definition, List<Change> changes) {
        List<RowTransaction> packed = new ArrayList<>();
        RowTransaction[] open = new RowTransaction[definition.lanes()];
        for (Change change : changes) {
            int lane = lane(change.candidate().key(), definition.lanes());
            SortedMap<Integer, Delta> more = change.deltas(definition);
            if (open[lane] == null || !open[lane].fits(change, more)) {
                open[lane] = new RowTransaction();
                packed.add(open[lane]);
            }
            open[lane].add(change, more);
        }
        return packed;
    }

    static int lane(byte[] key, int lanes) {
        byte[] padded = Arrays.copyOf(key, key.length + Hash.PADDING);
        return (int) Long.remainderUnsigned(Hash.of(padded, 0, key.length), lanes);
    }

    private static SortedMap<Integer, Delta> sum(SortedMap<Integer, Delta> one, SortedMap<Integer, Delta> other) {
        TreeMap<Integer, Delta> sum = new TreeMap<>(one);
        other.forEach((view, delta) -> sum.merge(view, delta, Delta::plus));
        return sum;
    }

    private static int items(SortedMap<Integer, Delta> deltas) {
        return deltas.values().stream().mapToInt(Delta::items).sum();
    }

    private static long bytes(SortedMap<Integer, Delta> deltas) {
        return deltas.values().stream().mapToLong(Delta::bytes).sum();
    }

    /// The row as it will be, about.
    private static long bytes(Change change) {
        long bytes = change.candidate().key().length + 300L;
        for (Contribution contribution : change.candidate().views().values()) {
            bytes += Packed.of(contribution).length;
        }
        for (Contribution contribution : change.candidate().refused().values()) {
            bytes += Packed.of(contribution).length;
        }
        return bytes;
    }

    private boolean fits(Change change, SortedMap<Integer, Delta> more) {
        SortedMap<Integer, Delta> together = sum(deltas, more);
        return changes.size() < ROWS_MAX
                && items(together) <= TOUCHED_MAX
                && bytes(together) <= DELTA_BYTES_MAX
                && bytes + bytes(change) <= BYTES_MAX;
    }

    private void add(Change change, SortedMap<Integer, Delta> more) {
        changes.add(change);
        deltas = sum(deltas, more);
        bytes += bytes(change);
    }

    List<Change> changes() {
        return changes;
    }

    /// The items to write; the first is the check of the definition's epoch, the last the delta.
    List<TransactWriteItem> items(Store store, Definition definition, DeltaId delta, TransactWriteItem check) {
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(check);
        Set<DeltaId> after = new HashSet<>();
        for (Change change : changes) {
            Row before = change.before();
            if (before != null) {
                after.add(before.delta());
            }
            items.add(TransactWriteItem.builder().put(put(store, change, delta)).build());
        }
        DeltaItem item = new DeltaItem(
                delta, definition.incarnation().id(), store.clock().instant(), deltas, after, arrivals());
        items.add(TransactWriteItem.builder()
                .put(Put.builder()
                        .tableName(store.tables().deltas())
                        .item(item.item())
                        // Functions that were restored from one snapshot may draw the same numbers.
                        .conditionExpression("attribute_not_exists(l)")
                        .build())
                .build());
        return items;
    }

    private ArrivalTimes arrivals() {
        return ArrivalTimes.of(
                changes.stream().map(change -> change.candidate().arrival()).toList());
    }

    private static Put put(Store store, Change change, DeltaId delta) {
        Put.Builder put = Put.builder()
                .tableName(store.tables().rows())
                .item(change.candidate().row(delta).item());
        Row before = change.before();
        if (before == null) {
            return put.conditionExpression("attribute_not_exists(k)").build();
        }
        return put.conditionExpression("d = :d")
                .expressionAttributeValues(
                        Map.of(":d", AttributeValue.fromS(before.delta().toString())))
                .build();
    }
}
