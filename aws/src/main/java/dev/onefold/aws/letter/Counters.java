package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.event.Event.Silence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/// How many records were accepted, and what became of the others: one item of the letters' table, with an attribute for
/// each fate and for each cause of silence, added to in one update. So that the item stays small, another table gets an
/// attribute of its own only while there are few: an update that brings a new name expects the item as it was seen
/// last,
/// and the last attempt brings none. Any thread may call.
final class Counters {
    private static final List<String> NAMES =
            List.of("accepted", "duplicate", "stale", "conflicting", "rejected", "silent");

    private static final int ATTEMPTS_MAX = 4;

    private final Store store;
    private final Map<String, AttributeValue> key;
    private volatile Fates seen = Fates.NONE;

    Counters(Store store, Map<String, AttributeValue> key) {
        this.store = store;
        this.key = key;
    }

    /// A figure for people: a batch must not fail, and be tried again, for it.
    void add(Fates more) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            try {
                store.threads().await(store.client().updateItem(addition(more, seen, attempt == ATTEMPTS_MAX)));
                return;
            } catch (ConditionalCheckFailedException newName) {
                seen = of(newName.item());
            } catch (RuntimeException failed) {
                return;
            }
        }
    }

    private UpdateItemRequest addition(Fates more, Fates known, boolean isLast) {
        Causes all = known.causes().plus(more.causes(), isLast ? 0 : Silence.TABLES_MAX);
        Map<String, Long> numbers = new HashMap<>(all.since(known.causes()).counts());
        Counts counts = more.counts();
        numbers.put("accepted", counts.accepted());
        numbers.put("duplicate", counts.duplicate());
        numbers.put("stale", counts.stale());
        numbers.put("conflicting", counts.conflicting());
        numbers.put("rejected", counts.rejected());
        numbers.put("silent", counts.silent());
        Map<String, String> names = new HashMap<>();
        Map<String, AttributeValue> values = new HashMap<>();
        List<String> additions = new ArrayList<>();
        List<String> tables = new ArrayList<>();
        numbers.forEach((name, number) -> {
            String at = "a" + names.size();
            names.put("#" + at, name);
            values.put(":" + at, Items.number(number));
            additions.add("#" + at + " :" + at);
            if (Causes.isOfNamedTable(name)) {
                tables.add("attribute_exists(#" + at + ")");
            }
        });
        UpdateItemRequest.Builder request = UpdateItemRequest.builder()
                .tableName(store.tables().letters())
                .key(key)
                .updateExpression("ADD " + String.join(", ", additions))
                .expressionAttributeNames(names);
        if (!isLast && !tables.isEmpty()) {
            values.put(":seen", Items.number(known.counts().silent()));
            request.conditionExpression(
                            "attribute_not_exists(silent) OR silent = :seen OR (" + String.join(" AND ", tables) + ")")
                    .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD);
        }
        return request.expressionAttributeValues(values).build();
    }

    /// The counts that an item holds, with the causes.
    static Fates of(Map<String, AttributeValue> item) {
        long[] counts = NAMES.stream()
                .mapToLong(name -> item.containsKey(name) ? Items.number(item, name) : 0)
                .toArray();
        Map<String, Long> causes = new HashMap<>();
        item.keySet().stream()
                .filter(name -> name.contains(": "))
                .forEach(name -> causes.put(name, Items.number(item, name)));
        return new Fates(
                new Counts(counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]), new Causes(causes));
    }
}
