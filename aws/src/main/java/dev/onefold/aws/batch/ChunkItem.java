package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.seal.LaneCut.Chunk;
import dev.onefold.core.seal.SealDecision;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Records that were written to a lane in one transaction. It never changes.
///
///     item = k 00 "chunk/<lane>/<number>", t when they arrived, z sizes of the records, and
///            d the records, one after the other, or
///            o the object that holds them, where they are too many bytes for an item, and
///            i the hashes of their ids, one after the other, where ids are forgotten after delivery, or the
///            records here do not tell them, or are direct
///            f of direct records, by their places: how far the delivery is with which their batch begins
///
/// @param data the records; empty if an object holds them
/// @param object its name; empty if the item holds the records
/// @param ids hashes, each of [#ID_BYTES]; empty if nobody needs them
/// @param begun attributes of a delivery, see [DeliveryItem#begun], by the place of the record
record ChunkItem(Chunk chunk, byte[] data, String object, byte[] ids, Map<Integer, Map<String, AttributeValue>> begun) {
    static final int ID_BYTES = 32;

    /// The attributes for a reader that does not need the records.
    static final String WITHOUT_DATA = "k, t, z, o, f";

    /// The attributes for forgetting the ids of a chunk.
    static final String WITH_IDS = "k, t, z, o, i";

    static Map<String, AttributeValue> key(int lane, long number) {
        return RowItem.other("chunk/" + lane + "/" + number);
    }

    static ChunkItem of(Map<String, AttributeValue> item) {
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "z"));
        int[] sizes = new int[packed.remaining() / Integer.BYTES];
        packed.asIntBuffer().get(sizes);
        return new ChunkItem(
                new Chunk(Items.number(item, "t"), sizes),
                item.containsKey("d") ? Items.bytes(item, "d") : new byte[0],
                item.containsKey("o") ? Items.text(item, "o") : "",
                item.containsKey("i") ? Items.bytes(item, "i") : new byte[0],
                item.containsKey("f") ? begun(item.get("f").m()) : Map.of());
    }

    private static Map<Integer, Map<String, AttributeValue>> begun(Map<String, AttributeValue> byPlace) {
        return byPlace.entrySet().stream()
                .collect(Collectors.toMap(
                        each -> Integer.valueOf(each.getKey()),
                        each -> each.getValue().m()));
    }

    /// The hash of a record's id.
    byte[] id(int record) {
        return Arrays.copyOfRange(ids, record * ID_BYTES, (record + 1) * ID_BYTES);
    }

    /// As [SealDecision] counts them.
    long bytes() {
        return Arrays.stream(chunk.sizes()).mapToLong(SealDecision::bytes).sum();
    }

    Map<String, AttributeValue> item(int lane, long number) {
        ByteBuffer packed = ByteBuffer.allocate(chunk.sizes().length * Integer.BYTES);
        packed.asIntBuffer().put(chunk.sizes());
        Map<String, AttributeValue> item = new TreeMap<>(key(lane, number));
        item.put("t", Items.number(chunk.atMs()));
        item.put("z", Items.bytes(packed.array()));
        if (object.isEmpty()) {
            item.put("d", Items.bytes(data));
        } else {
            item.put("o", AttributeValue.fromS(object));
        }
        if (ids.length > 0) {
            item.put("i", Items.bytes(ids));
        }
        if (!begun.isEmpty()) {
            item.put(
                    "f",
                    AttributeValue.fromM(begun.entrySet().stream()
                            .collect(Collectors.toMap(
                                    each -> each.getKey().toString(), each -> AttributeValue.fromM(each.getValue())))));
        }
        return item;
    }
}
