package dev.onefold.aws.item;

import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.ContributionBytes;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The row of a key. It is the mark of its delta: both are written in one transaction, so a record that comes again
/// finds it and changes nothing.
///
///     item = k 01 and the key, v version, d last delta, p place, c<view> what each view has of it,
///            x<view> what is kept of it for a view that refuses it, a if it was put aside
///
/// A row without c and x is one whose letter is kept: for every view it is as if its key was never seen. If it was put
/// aside, a lesser version is stale still.
///
/// @param version see [dev.onefold.core.bytes.VersionBytes]
/// @param delta the delta that was written with this row; it is never given twice, so a condition on it is a
///     condition on all of the row
/// @param place where the record came from
/// @param views by number, what each has of this row
/// @param refused by number, what is kept of it for each view that cannot take it: nothing of this is in the totals
/// @param isAside whether what it held could not be read, and is a letter
public record RowItem(
        byte[] key,
        byte[] version,
        DeltaId delta,
        String place,
        SortedMap<Integer, Contribution> views,
        SortedMap<Integer, Contribution> refused,
        boolean isAside) {
    static final String KEY = "k";
    static final String VERSION = "v";
    public static final String DELTA = "d";
    static final String PLACE = "p";
    static final String VIEW = "c";
    static final String REFUSED = "x";
    private static final String ASIDE = "a";

    public RowItem {
        views = new TreeMap<>(views);
        refused = new TreeMap<>(refused);
    }

    /// The row that an item holds.
    public static RowItem of(Map<String, AttributeValue> item) {
        return new RowItem(
                unmarked(Items.bytes(item, KEY)),
                Items.bytes(item, VERSION),
                DeltaId.parse(Items.text(item, DELTA)),
                Items.text(item, PLACE),
                contributions(item, VIEW),
                contributions(item, REFUSED),
                item.containsKey(ASIDE));
    }

    private static TreeMap<Integer, Contribution> contributions(Map<String, AttributeValue> item, String prefix) {
        TreeMap<Integer, Contribution> contributions = new TreeMap<>();
        item.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                contributions.put(
                        Integer.parseInt(name, 1, name.length(), 10),
                        ContributionBytes.read(value.b().asByteArray()));
            }
        });
        return contributions;
    }

    /// The item of this row.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(Map.of(
                KEY, Items.bytes(marked(key)),
                VERSION, Items.bytes(version),
                DELTA, AttributeValue.fromS(delta.toString()),
                PLACE, AttributeValue.fromS(place)));
        views.forEach((view, contribution) -> item.put(VIEW + view, Items.bytes(ContributionBytes.of(contribution))));
        refused.forEach(
                (view, contribution) -> item.put(REFUSED + view, Items.bytes(ContributionBytes.of(contribution))));
        if (isAside) {
            item.put(ASIDE, AttributeValue.fromBool(true));
        }
        return item;
    }

    /// The row as a pipeline reads it.
    public Row row(Pipeline pipeline, Contribution payload) {
        return new Row(Key.parts(pipeline, key), Version.of(pipeline, version), payload, place, 0);
    }

    /// Whether the row holds nothing for any view: its letter is kept, and the next record of its key is the first one.
    public boolean isEmpty() {
        return views.isEmpty() && refused.isEmpty();
    }

    /// Whether a view refuses this row, and no letter of it is kept yet.
    public boolean isRefusedBy(int view) {
        return refused.containsKey(view);
    }

    /// The key of the item.
    public static Map<String, AttributeValue> keyOf(byte[] key) {
        return Map.of(KEY, Items.bytes(marked(key)));
    }

    /// An item's key is never empty; an event's may be.
    private static byte[] marked(byte[] key) {
        byte[] marked = new byte[key.length + 1];
        marked[0] = 1;
        System.arraycopy(key, 0, marked, 1, key.length);
        return marked;
    }

    /// Whether an item of the table is a row.
    public static boolean isRow(Map<String, AttributeValue> item) {
        return Items.bytes(item, KEY)[0] == 1;
    }

    /// The key of something else that stands in the table.
    public static Map<String, AttributeValue> other(String name) {
        return Map.of(KEY, Items.bytes(("\0" + name).getBytes(StandardCharsets.UTF_8)));
    }

    private static byte[] unmarked(byte[] marked) {
        return Arrays.copyOfRange(marked, 1, marked.length);
    }
}
