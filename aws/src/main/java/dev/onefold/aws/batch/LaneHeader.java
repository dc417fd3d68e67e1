package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How far a lane is written. A lane is a log and is never closed.
///
///     item = k 00 "lane/<number>", n next chunk, m members and b bytes of all chunks before it
///
/// @param next number of the next chunk, from 0
/// @param members records that the chunks before it hold
/// @param bytes of these records, as [dev.onefold.core.batch.Sealing] counts them
record LaneHeader(long next, long members, long bytes) {
    /// Of a lane without chunks; there is no item.
    static final LaneHeader EMPTY = new LaneHeader(0, 0, 0);

    static Map<String, AttributeValue> key(int lane) {
        return RowItem.other("lane/" + lane);
    }

    /// The lane whose header an item is.
    static int lane(Map<String, AttributeValue> item) {
        byte[] key = Items.bytes(item, "k");
        return Integer.parseInt(new String(key, 6, key.length - 6, StandardCharsets.US_ASCII));
    }

    static LaneHeader of(Map<String, AttributeValue> item) {
        return item.isEmpty()
                ? EMPTY
                : new LaneHeader(Items.number(item, "n"), Items.number(item, "m"), Items.number(item, "b"));
    }

    /// The header behind one more chunk.
    LaneHeader plus(ChunkItem chunk) {
        return new LaneHeader(next + 1, members + chunk.chunk().sizes().length, bytes + chunk.bytes());
    }

    Map<String, AttributeValue> item(int lane) {
        Map<String, AttributeValue> item = new TreeMap<>(key(lane));
        item.put("n", Items.number(next));
        item.put("m", Items.number(members));
        item.put("b", Items.number(bytes));
        return item;
    }
}
