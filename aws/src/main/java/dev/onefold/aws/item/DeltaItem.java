package dev.onefold.aws.item;

import dev.onefold.core.map.DeltaBytes;
import dev.onefold.core.reduce.Commit.PendingDelta;
import dev.onefold.core.reduce.DeltaId;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
public record DeltaItem(PendingDelta delta, String incarnation, Instant at, ArrivalTimes arrivals) {
    public static final String LANE = "l";
    public static final String ID = "i";
    static final String INCARNATION = "n";
    static final String AT = "t";
    static final String AMOUNTS = "a";
    static final String AFTER = "r";
    static final String ARRIVALS = "w";

    /// The delta that an item holds.
    public static DeltaItem of(Map<String, AttributeValue> item) {
        Set<DeltaId> after = new HashSet<>();
        if (item.containsKey(AFTER)) {
            item.get(AFTER).ss().forEach(text -> after.add(DeltaId.parse(text)));
        }
        return new DeltaItem(
                new PendingDelta(
                        new DeltaId(Integer.parseInt(Items.text(item, LANE)), Items.text(item, ID)),
                        after,
                        DeltaBytes.read(Items.bytes(item, AMOUNTS))),
                Items.text(item, INCARNATION),
                Instant.ofEpochMilli(Items.number(item, AT)),
                item.containsKey(ARRIVALS) ? ArrivalTimes.of(Items.bytes(item, ARRIVALS)) : ArrivalTimes.NONE);
    }

    /// The delta's name.
    public DeltaId id() {
        return delta.id();
    }

    /// The item of this delta.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(keyOf(id()));
        item.put(INCARNATION, AttributeValue.fromS(incarnation));
        item.put(AT, Items.number(at.toEpochMilli()));
        item.put(AMOUNTS, Items.bytes(DeltaBytes.of(delta.deltas())));
        if (!delta.after().isEmpty()) {
            List<String> texts = new TreeSet<>(
                            delta.after().stream().map(DeltaId::toString).toList())
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
}
