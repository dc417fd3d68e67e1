package dev.onefold.aws.state;

import dev.onefold.aws.item.ArrivalTimes;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.reduce.Commit.PendingDelta;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.reduce.StepPacker;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.ContributionBytes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Rows of one lane, and the one delta that they come to: written together, each row on condition that it is
/// what was read.
record RowTransaction(int lane, List<Change> changes, ViewDeltas deltas) {
    /// The second limit bounds the items that Reduce must be able to add in one transaction, beside the delta
    /// itself and the lane's header.
    private static final StepPacker.Limits LIMITS = new StepPacker.Limits(90, 90, 100_000, 3_000_000);

    private static final long ROW_BYTES = 300; // Beside its key and its contributions.

    /// The changes by lane, in as few transactions as the limits allow.
    static List<RowTransaction> pack(Definition definition, List<Change> changes) {
        List<StepPacker.Change> sizes = changes.stream()
                .map(change ->
                        new StepPacker.Change(change.candidate().key(), change.deltas(definition), bytes(change)))
                .toList();
        return StepPacker.pack(sizes, definition.lanes(), LIMITS).stream()
                .map(step -> new RowTransaction(
                        step.lane(), step.indices().stream().map(changes::get).toList(), step.deltas()))
                .toList();
    }

    private static long bytes(Change change) {
        long bytes = change.candidate().key().length + ROW_BYTES;
        for (Contribution contribution : change.candidate().views().values()) {
            bytes += ContributionBytes.of(contribution).length;
        }
        for (Contribution contribution : change.candidate().refused().values()) {
            bytes += ContributionBytes.of(contribution).length;
        }
        return bytes;
    }

    /// The items to write; the first is the check of the definition's epoch, the last the delta.
    List<TransactWriteItem> items(Store store, Definition definition, DeltaId delta, TransactWriteItem check) {
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(check);
        Set<DeltaId> after = new HashSet<>();
        for (Change change : changes) {
            RowItem before = change.before();
            if (before != null) {
                after.add(before.delta());
            }
            items.add(TransactWriteItem.builder().put(put(store, change, delta)).build());
        }
        DeltaItem item = new DeltaItem(
                new PendingDelta(delta, after, deltas),
                definition.incarnation().id(),
                store.clock().instant(),
                arrivals());
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
                .item(change.candidate().item(delta).item());
        RowItem before = change.before();
        if (before == null) {
            return put.conditionExpression("attribute_not_exists(k)").build();
        }
        return put.conditionExpression("d = :d")
                .expressionAttributeValues(
                        Map.of(":d", AttributeValue.fromS(before.delta().toString())))
                .build();
    }
}
