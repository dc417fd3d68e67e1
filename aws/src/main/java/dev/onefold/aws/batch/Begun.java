package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.bytes.Sha256;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The start mark of a hand-over, in place of the claim of the record's id; see [Direct].
///
///     item = k and h as of a claim, o owner, s when it was begun, u when the owner is gone, d the SHA-256 of
///            the record
///
/// @param owner an id that is never given twice; who finds it knows that nobody has changed the item
/// @param content see [Claim]
/// @param goneMs from when on nothing that the owner has sent can be under way
/// @param record SHA-256 of the record: each attempt must have the same bytes, also where contents are not
///     compared
record Begun(String owner, long content, long startedMs, long goneMs, byte[] record) {
    /// That an item is this one still.
    static final String SAME = "o = :o";

    /// Whether the claim of an id is a start mark.
    static boolean is(Map<String, AttributeValue> claim) {
        return claim.containsKey("o");
    }

    static Begun of(Map<String, AttributeValue> item) {
        return new Begun(
                Items.text(item, "o"),
                Items.number(item, "h"),
                Items.number(item, "s"),
                Items.number(item, "u"),
                Items.bytes(item, "d"));
    }

    Map<String, AttributeValue> item(byte[] idHash) {
        Map<String, AttributeValue> item = new TreeMap<>(RowItem.keyOf(idHash));
        item.put("h", Items.number(content));
        item.put("o", AttributeValue.fromS(owner));
        item.put("s", Items.number(startedMs));
        item.put("u", Items.number(goneMs));
        item.put("d", Items.bytes(record));
        return item;
    }

    /// The values in [#SAME].
    Map<String, AttributeValue> names() {
        return Map.of(":o", AttributeValue.fromS(owner));
    }

    boolean isOf(byte[] line) {
        return Arrays.equals(record, Sha256.of(line));
    }

    /// The attempt that was begun, the first one.
    Delivery.Started started() {
        return new Delivery.Started(Delivery.Tries.NONE.plus(startedMs), owner, startedMs);
    }
}
