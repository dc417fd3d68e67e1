package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.batch.LaneCut.Chunk;
import dev.onefold.core.batch.Sealing;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Records that were written to a lane in one transaction. It never changes.
///
///     item = k 00 "chunk/<lane>/<number>", t when they arrived, z sizes of the records, and
///            d the records, one after the other, or
///            o the object that holds them, where they are too many bytes for an item
///
/// @param data the records; empty if an object holds them
/// @param object its name; empty if the item holds the records
record ChunkItem(Chunk chunk, byte[] data, String object) {
    /// What a reader needs that does not want the records.
    static final String WITHOUT_DATA = "k, t, z, o";

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
                item.containsKey("o") ? Items.text(item, "o") : "");
    }

    /// As [Sealing] counts them.
    long bytes() {
        return Arrays.stream(chunk.sizes()).mapToLong(Sealing::bytes).sum();
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
        return item;
    }
}
