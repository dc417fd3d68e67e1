package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.batch.LaneCut.Cut;
import dev.onefold.core.batch.LaneCut.Part;
import dev.onefold.core.batch.LaneCut.Position;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How far the lanes are cut into batches.
///
///     item = k 00 "cut", n number of the last batch, b bytes in all batches, p of each lane 20 bytes:
///            chunk and offset of the first record in no batch, and how many records lie before it
///
/// @param number of the last batch that is sealed; 0 if none is
/// @param bytes of all batches
/// @param ends of each lane
record CutItem(long number, long bytes, List<End> ends) {
    private static final int END_BYTES = 2 * Long.BYTES + Integer.BYTES;

    /// Where the batches of a lane end.
    ///
    /// @param members records of the lane that are in batches
    record End(Position position, long members) {}

    CutItem {
        ends = List.copyOf(ends);
    }

    static Map<String, AttributeValue> key() {
        return RowItem.other("cut");
    }

    /// The cut that an item holds; the one before the first batch, if there is none.
    ///
    /// @param lanes how many lanes the deployment has
    static CutItem of(Map<String, AttributeValue> item, int lanes) {
        if (item.isEmpty()) {
            return new CutItem(
                    0,
                    0,
                    IntStream.range(0, lanes)
                            .mapToObj(_ -> new End(Position.START, 0))
                            .toList());
        }
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "p"));
        if (packed.remaining() != lanes * END_BYTES) {
            throw new IllegalStateException("The cut in the table is through " + packed.remaining() / END_BYTES
                    + " lanes, and this function has " + lanes + ". Deploy it with the number that it had.");
        }
        List<End> ends = new ArrayList<>();
        while (packed.hasRemaining()) {
            ends.add(new End(new Position(packed.getLong(), packed.getInt()), packed.getLong()));
        }
        return new CutItem(Items.number(item, "n"), Items.number(item, "b"), ends);
    }

    /// The cut behind the next batch.
    CutItem plus(Cut batch) {
        List<End> next = new ArrayList<>(ends);
        for (Part part : batch.parts()) {
            End before = ends.get(part.lane());
            next.set(part.lane(), new End(part.to(), before.members + part.records()));
        }
        return new CutItem(number + 1, bytes + batch.bytes(), next);
    }

    Map<String, AttributeValue> item() {
        ByteBuffer packed = ByteBuffer.allocate(ends.size() * END_BYTES);
        for (End end : ends) {
            packed.putLong(end.position.chunk()).putInt(end.position.offset()).putLong(end.members);
        }
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("n", Items.number(number));
        item.put("b", Items.number(bytes));
        item.put("p", Items.bytes(packed.array()));
        return item;
    }
}
