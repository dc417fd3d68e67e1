package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.core.seal.LaneCut.Cut;
import dev.onefold.core.seal.LaneCut.Part;
import dev.onefold.core.seal.LaneCut.Position;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The ranges, the size and the times of a batch; they never change. Its item also says how far its delivery is,
/// see [DeliveryItem].
///
///     item = k 00 "batch/<number>", x its ranges of lanes, each 32 bytes, r records, b bytes, f and l when the first
///            and the last of them arrived, s when it was sealed
record SealedBatch(Cut cut, long sealedMs) {
    private static final int PART_BYTES = 2 * Long.BYTES + 4 * Integer.BYTES;

    static SealedBatch of(Map<String, AttributeValue> item) {
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "x"));
        List<Part> parts = new ArrayList<>();
        while (packed.hasRemaining()) {
            parts.add(new Part(
                    packed.getInt(),
                    new Position(packed.getLong(), packed.getInt()),
                    new Position(packed.getLong(), packed.getInt()),
                    packed.getInt()));
        }
        Cut cut = new Cut(
                parts,
                (int) Items.number(item, "r"),
                Items.number(item, "b"),
                Items.number(item, "f"),
                Items.number(item, "l"));
        return new SealedBatch(cut, Items.number(item, "s"));
    }

    /// The attributes of this batch in the item of its number.
    Map<String, AttributeValue> attributes() {
        ByteBuffer packed = ByteBuffer.allocate(cut.parts().size() * PART_BYTES);
        for (Part part : cut.parts()) {
            packed.putInt(part.lane());
            packed.putLong(part.from().chunk()).putInt(part.from().offset());
            packed.putLong(part.to().chunk()).putInt(part.to().offset());
            packed.putInt(part.records());
        }
        Map<String, AttributeValue> item = new TreeMap<>();
        item.put("x", Items.bytes(packed.array()));
        item.put("r", Items.number(cut.records()));
        item.put("b", Items.number(cut.bytes()));
        item.put("f", Items.number(cut.firstMs()));
        item.put("l", Items.number(cut.lastMs()));
        item.put("s", Items.number(sealedMs));
        return item;
    }

    /// Its chunks, each as a part of its own.
    List<Part> chunks() {
        return cut.parts().stream().flatMap(SealedBatch::chunks).toList();
    }

    private static Stream<Part> chunks(Part part) {
        return LongStream.rangeClosed(part.from().chunk(), part.to().chunk())
                .mapToObj(chunk -> new Part(
                        part.lane(),
                        chunk == part.from().chunk() ? part.from() : new Position(chunk, 0),
                        chunk == part.to().chunk() ? part.to() : new Position(chunk, Integer.MAX_VALUE),
                        0));
    }
}
