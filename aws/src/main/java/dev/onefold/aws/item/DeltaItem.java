package dev.onefold.aws.item;

import dev.onefold.core.map.Delta;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A delta that is not in the totals yet: that it exists says so. It is deleted in the transaction that adds it.
///
///     item = l lane, i id, n incarnation, t time, a deltas per view, r the deltas whose additions it retracts, w when
///            its records came
///
/// @param incarnation in which it was written; it counts in no other
/// @param at when it was written, for the lag
/// @param after deltas that must be in the totals before this one or with it, because it retracts what they add
public record DeltaItem(
        DeltaId id,
        String incarnation,
        Instant at,
        SortedMap<Integer, Delta> views,
        Set<DeltaId> after,
        ArrivalTimes arrivals) {
    public static final String LANE = "l";
    public static final String ID = "i";
    static final String INCARNATION = "n";
    static final String AT = "t";
    static final String AMOUNTS = "a";
    static final String AFTER = "r";
    static final String ARRIVALS = "w";

    public DeltaItem {
        views = new TreeMap<>(views);
        after = Set.copyOf(after);
    }

    /// The delta that an item holds.
    public static DeltaItem of(Map<String, AttributeValue> item) {
        Set<DeltaId> after = new java.util.HashSet<>();
        if (item.containsKey(AFTER)) {
            item.get(AFTER).ss().forEach(text -> after.add(DeltaId.parse(text)));
        }
        return new DeltaItem(
                new DeltaId(Integer.parseInt(Items.text(item, LANE)), Items.text(item, ID)),
                Items.text(item, INCARNATION),
                Instant.ofEpochMilli(Items.number(item, AT)),
                Packed.deltas(Items.bytes(item, AMOUNTS)),
                after,
                item.containsKey(ARRIVALS) ? ArrivalTimes.of(Items.bytes(item, ARRIVALS)) : ArrivalTimes.NONE);
    }

    /// The item of this delta.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(keyOf(id));
        item.put(INCARNATION, AttributeValue.fromS(incarnation));
        item.put(AT, Items.number(at.toEpochMilli()));
        item.put(AMOUNTS, Items.bytes(Packed.of(views)));
        if (!after.isEmpty()) {
            List<String> texts = new TreeSet<>(
                            after.stream().map(DeltaId::toString).toList())
                    .stream().toList();
            item.put(AFTER, AttributeValue.fromSs(texts));
        }
        if (arrivals.counts().length > 0) {
            item.put(ARRIVALS, Items.bytes(arrivals.bytes()));
        }
        return item;
    }

    /// The key of the item.
    public static Map<String, AttributeValue> keyOf(DeltaId id) {
        return Map.of(
                LANE, AttributeValue.fromS(Integer.toString(id.lane())),
                ID, AttributeValue.fromS(id.id()));
    }

    /// How many things it touches in the totals.
    public int items() {
        return views.values().stream().mapToInt(Delta::items).sum();
    }
}
