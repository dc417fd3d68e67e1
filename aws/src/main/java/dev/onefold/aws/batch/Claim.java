package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The mark of an id: whoever finds it knows that the message is recorded, whoever wrote it.
///
///     item = k 01 and the SHA-256 of the id, l lane, c chunk, h the hash of what tells two contents apart
///
/// @param lane [#NONE] if the pipeline's filter leaves the message out of every batch
/// @param content see [dev.onefold.core.event.Event#contentHash]
record Claim(int lane, long chunk, long content) {
    static final int NONE = -1;

    static Map<String, AttributeValue> key(byte[] idHash) {
        return RowItem.keyOf(idHash);
    }

    /// The hash of the id that an item claims.
    static ByteBuffer idHash(Map<String, AttributeValue> item) {
        byte[] key = Items.bytes(item, "k");
        return ByteBuffer.wrap(Arrays.copyOfRange(key, 1, key.length));
    }

    static Claim of(Map<String, AttributeValue> item) {
        return new Claim((int) Items.number(item, "l"), Items.number(item, "c"), Items.number(item, "h"));
    }

    Map<String, AttributeValue> item(byte[] idHash) {
        Map<String, AttributeValue> item = new TreeMap<>(key(idHash));
        item.put("l", Items.number(lane));
        item.put("c", Items.number(chunk));
        item.put("h", Items.number(content));
        return item;
    }
}
