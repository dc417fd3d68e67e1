package dev.onefold.aws.state;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How far the filling of a view is: the table of rows is gone through in segments, each from its beginning to its end,
/// by whoever has time. What is behind a segment's cursor is filled; a cursor that a twin moves back costs time and
/// nothing else.
///
///     item = k 00 "filling", v view, t when somebody last went on, g whether it may begin,
///            s<i> per segment: k key of the last item that is filled (none: nothing is), n how many rows these
///            are, d whether that is all
///
/// @param at when somebody last went on; it decides nothing about totals
/// @param isFenced whether no row can come any more that was written under a definition without the view
public record Progress(int view, Instant at, boolean isFenced, List<Segment> segments) {
    static final int SEGMENTS = 8;

    public Progress {
        segments = List.copyOf(segments);
    }

    /// A part of the table.
    record Segment(@Nullable Map<String, AttributeValue> cursor, long rows, boolean done) {
        private static final Segment NEW = new Segment(null, 0, false);

        private AttributeValue item() {
            TreeMap<String, AttributeValue> parts = new TreeMap<>();
            parts.put("n", Items.number(rows));
            parts.put("d", AttributeValue.fromBool(done));
            if (cursor != null) {
                parts.put("k", Items.bytes(Items.bytes(cursor, "k")));
            }
            return AttributeValue.fromM(parts);
        }

        private static Segment of(Map<String, AttributeValue> parts) {
            AttributeValue cursor = parts.get("k");
            return new Segment(
                    cursor == null ? null : Map.of("k", cursor),
                    Items.number(parts, "n"),
                    Items.require(parts, "d").bool());
        }
    }

    /// Whether every row is in the view.
    public boolean isDone() {
        return segments.stream().allMatch(Segment::done);
    }

    /// How many rows were gone through.
    public long rows() {
        return segments.stream().mapToLong(Segment::rows).sum();
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("filling");
    }

    /// Notes that a view is to be filled, unless it or a later one is noted already.
    ///
    /// @return the progress as it is noted now
    public static Progress begin(Store store, int view) {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("v", Items.number(view));
        item.put("t", Items.number(store.clock().millis()));
        item.put("g", AttributeValue.fromBool(false));
        for (int segment = 0; segment < SEGMENTS; segment++) {
            item.put("s" + segment, Segment.NEW.item());
        }
        store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression("attribute_not_exists(k) OR v < :v")
                        .expressionAttributeValues(Map.of(":v", Items.number(view)))));
        return find(store);
    }

    /// The progress as it is noted, of the view that is being filled or was filled last.
    static Progress find(Store store) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return new Progress(
                (int) Items.number(item, "v"),
                Instant.ofEpochMilli(Items.number(item, "t")),
                Items.require(item, "g").bool(),
                IntStream.range(0, SEGMENTS)
                        .mapToObj(segment ->
                                Segment.of(Items.require(item, "s" + segment).m()))
                        .toList());
    }

    /// Notes that filling may begin. Whether this view is still the last one to be filled.
    boolean fence(Store store) {
        return update(store, "g = :g", Map.of(":g", AttributeValue.fromBool(true), ":v", Items.number(view)));
    }

    /// Notes how far a segment is. Whether this view is still the last one to be filled.
    boolean save(Store store, int segment, Segment now) {
        return update(
                store,
                "s" + segment + " = :s, t = :t",
                Map.of(
                        ":s", now.item(),
                        ":t", Items.number(store.clock().millis()),
                        ":v", Items.number(view)));
    }

    private static boolean update(Store store, String setting, Map<String, AttributeValue> values) {
        return store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("SET " + setting)
                        .conditionExpression("v = :v")
                        .expressionAttributeValues(values)));
    }
}
