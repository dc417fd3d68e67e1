package dev.onefold.aws.reduce;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Store;
import dev.onefold.core.map.Delta;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.Update;

/// The amounts that are added to one item of a stripe.
///
/// @param identity attributes that say what the item is, for an item that is new
/// @param amounts by attribute
record Addition(
        Map<String, AttributeValue> key, Map<String, AttributeValue> identity, Map<String, BigInteger> amounts) {

    /// All additions of a delta to a view's stripe.
    static List<Addition> of(int view, int lane, Delta delta) {
        String partition = TotalsKey.partition(view, lane);
        List<Addition> additions = new ArrayList<>();
        delta.cells()
                .forEach((cell, sums) -> additions.add(new Addition(
                        TotalsKey.of(partition, TotalsKey.of(cell)), Stored.identity(cell), Stored.additions(sums))));
        delta.values()
                .forEach((value, count) -> additions.add(new Addition(
                        TotalsKey.of(partition, TotalsKey.of(value)),
                        Stored.identity(value),
                        Stored.additions(count))));
        return additions;
    }

    /// The update of the item. The first one in an epoch keeps what was there at the end of the one before, and at the
    /// end of the held one.
    ///
    /// @param stored the item as it was read; empty if there is none
    /// @param held an epoch that a reader holds, if there is one
    TransactWriteItem update(Store store, Map<String, AttributeValue> stored, long epoch, OptionalLong held) {
        TreeMap<String, AttributeValue> values = new TreeMap<>();
        List<String> additions = new ArrayList<>();
        List<String> settings = new ArrayList<>();
        List<String> removals = new ArrayList<>();
        boolean first = stored.isEmpty() || Items.number(stored, Stored.EPOCH) < epoch;
        amounts.forEach((name, amount) -> {
            additions.add(name + " :" + name);
            values.put(":" + name, AttributeValue.fromN(amount.toString()));
            if (first && !stored.isEmpty()) {
                settings.add(Stored.before(name) + " = " + name);
            }
        });
        if (first) {
            settings.add(Stored.EPOCH + " = :epoch");
            values.put(":epoch", Items.number(epoch));
            if (held.isPresent()) {
                hold(stored, epoch, held.getAsLong(), settings, values);
            } else if (stored.containsKey(Stored.HELD)) {
                removals.add(Stored.HELD);
                amounts.keySet().forEach(name -> removals.add(Stored.held(name)));
            }
        }
        // The header's condition covers this one too, but for a commit of somebody else that was still being applied
        // when the item was read.
        if (!stored.isEmpty()) {
            values.put(":read", Items.number(Items.number(stored, Stored.EPOCH)));
        } else {
            identity.forEach((name, value) -> {
                settings.add(name + " = :is" + name);
                values.put(":is" + name, value);
            });
        }
        String expression = (settings.isEmpty() ? "" : "SET " + String.join(", ", settings) + " ")
                + (removals.isEmpty() ? "" : "REMOVE " + String.join(", ", removals) + " ") + "ADD "
                + String.join(", ", additions);
        return TransactWriteItem.builder()
                .update(Update.builder()
                        .tableName(store.tables().totals())
                        .key(key)
                        .updateExpression(expression)
                        .conditionExpression(stored.isEmpty() ? "attribute_not_exists(p)" : Stored.EPOCH + " = :read")
                        .expressionAttributeValues(values)
                        .build())
                .build();
    }

    /// Keeps the value at the end of a held epoch, unless it is kept, or nobody knows it any more. Until the epoch
    /// after the held one is closed, the copy of before is that value.
    private void hold(
            Map<String, AttributeValue> stored,
            long epoch,
            long held,
            List<String> settings,
            Map<String, AttributeValue> values) {
        boolean isKept = stored.containsKey(Stored.HELD) && Items.number(stored, Stored.HELD) == held;
        long changed = stored.isEmpty() ? held : Items.number(stored, Stored.EPOCH);
        if (epoch <= held + 1 || isKept || changed > held + 1) {
            return;
        }
        settings.add(Stored.HELD + " = :held");
        values.put(":held", Items.number(held));
        if (stored.isEmpty()) {
            return;
        }
        for (String name : amounts.keySet()) {
            if (changed <= held) {
                settings.add(Stored.held(name) + " = " + name);
            } else {
                settings.add(Stored.held(name) + " = if_not_exists(" + Stored.before(name) + ", :none)");
                values.put(":none", Items.number(0));
            }
        }
    }
}
