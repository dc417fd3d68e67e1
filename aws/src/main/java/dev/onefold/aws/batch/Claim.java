package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching.Forget;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The mark of an id: whoever finds it knows that the message is recorded, whoever wrote it.
///
///     item = k 01 and the SHA-256 of the id, l lane, c chunk, h the hash of what tells two contents apart, and, where
///            ids are forgotten after a time, t when the record arrived and ttl when the table may remove the item
///     seen = k 01 and the SHA-256 of "m" and what the source names a message by, ttl as above: the mark of a message,
///            where ids are forgotten after delivery, or of a letter that is redriven, where ids are forgotten at all;
///            in: what the message brought is in a batch, l and c as above
///
/// @param lane [#NONE] if the pipeline's filter leaves the message out of every batch, [#DONE] or [#BEGUN];
///     else a chunk has the record
/// @param content see [dev.onefold.core.event.Event#contentHash]
/// @param atMs when the record arrived; 0 where no id is forgotten after a time
record Claim(int lane, long chunk, long content, long atMs) {
    static final int NONE = -1;

    /// The record was handed over by the invocation that took it, and is in no lane; see [Direct].
    static final int DONE = -2;

    /// It is being handed over; see [Begun].
    static final int BEGUN = -3;

    /// From when no decision needs an item until the table may remove it: clocks differ, and invocations take a while.
    private static final Duration MARGIN = Duration.ofDays(1);

    private static final String EXPIRES = "ttl";
    static final String RECORDED = "in";

    /// Whether the item is the mark of a message whose record is in a batch.
    static boolean isRecorded(Map<String, AttributeValue> seen) {
        return seen.containsKey(RECORDED);
    }

    static Map<String, AttributeValue> key(byte[] idHash) {
        return RowItem.keyOf(idHash);
    }

    /// The hash of the id that an item claims, or of the message that it marks.
    static ByteBuffer idHash(Map<String, AttributeValue> item) {
        byte[] key = Items.bytes(item, "k");
        return ByteBuffer.wrap(Arrays.copyOfRange(key, 1, key.length));
    }

    static byte[] bytes(ByteBuffer idHash) {
        byte[] bytes = new byte[idHash.remaining()];
        idHash.duplicate().get(bytes);
        return bytes;
    }

    /// The hash under which a message is marked.
    static byte[] seenHash(byte[] message) {
        byte[] marked = new byte[message.length + 1];
        marked[0] = (byte) 'm';
        System.arraycopy(message, 0, marked, 1, message.length);
        return Sha256.of(marked);
    }

    /// The mark of a message that has come.
    ///
    /// @param claim of what it brought; `null` if that is in no batch
    /// @param lastMs from when on its source cannot give it again
    static Map<String, AttributeValue> seen(byte[] seenHash, @Nullable Claim claim, long lastMs) {
        Map<String, AttributeValue> item = new TreeMap<>(key(seenHash));
        item.put(EXPIRES, expires(lastMs));
        if (claim != null) {
            item.put(RECORDED, AttributeValue.fromBool(true));
            item.put("l", Items.number(claim.lane));
            item.put("c", Items.number(claim.chunk));
        }
        return item;
    }

    private static AttributeValue expires(long lastMs) {
        return Items.number(Math.ceilDiv(lastMs + MARGIN.toMillis(), 1_000));
    }

    static Claim of(Map<String, AttributeValue> item) {
        if (Begun.is(item)) {
            return new Claim(BEGUN, 0, Items.number(item, "h"), 0);
        }
        return new Claim(
                (int) Items.number(item, "l"),
                Items.number(item, "c"),
                Items.number(item, "h"),
                item.containsKey("t") ? Items.number(item, "t") : 0);
    }

    boolean isBegun() {
        return lane == BEGUN;
    }

    /// Whether a chunk has the record.
    boolean isInLane() {
        return lane >= 0;
    }

    /// Whether the id is forgotten for a record that arrived then. It depends on the two arrivals alone: not on
    /// when the item is removed.
    boolean isForgotten(Forget forget, long arrivedMs) {
        return forget instanceof Forget.After(Duration time) && arrivedMs - atMs > time.toMillis();
    }

    /// @param redelivery after its arrival a source gives a record again for so long, at most
    Map<String, AttributeValue> item(byte[] idHash, Forget forget, Duration redelivery) {
        Map<String, AttributeValue> item = new TreeMap<>(key(idHash));
        item.put("l", Items.number(lane));
        item.put("c", Items.number(chunk));
        item.put("h", Items.number(content));
        if (forget instanceof Forget.After(Duration time)) {
            item.put("t", Items.number(atMs));
            // A record for which the id is not forgotten arrives within the time, and comes again for so long.
            item.put(EXPIRES, expires(atMs + time.plus(redelivery).toMillis()));
        }
        return item;
    }

    /// The values in a condition on the claim of an id: they name the chunk, and a chunk is never written twice.
    Map<String, AttributeValue> names() {
        return Map.of(":l", Items.number(lane), ":c", Items.number(chunk));
    }

    /// The values in a condition on the claim of an id, or on the one that it takes the place of.
    Map<String, AttributeValue> namesAfter(Claim before) {
        Map<String, AttributeValue> names = new TreeMap<>(names());
        names.put(":m", Items.number(before.lane));
        names.put(":d", Items.number(before.chunk));
        return names;
    }

    /// That an item claims what this one does.
    static final String SAME = "l = :l AND c = :c";

    /// The same where ids are forgotten after a time: what no batch holds has no chunk that would tell it.
    static final String SAME_TIME = SAME + " AND t = :t";

    Map<String, AttributeValue> namesWithTime() {
        Map<String, AttributeValue> names = new TreeMap<>(names());
        names.put(":t", Items.number(atMs));
        return names;
    }
}
