package dev.onefold.aws.item;

import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A lane's header: each commit of the lane moves it, so that two reducers of one lane cannot both commit on what they
/// read. All headers have the same epoch at every instant; a reader closes it in one transaction over all of them, and
/// that is the cut of its answer.
///
///     item = p "headers", g lane 2, n commits, e epoch
public record Header(int lane, long commits, long epoch) {
    public static final String COMMITS = "n";
    public static final String EPOCH = "e";
    public static final String PARTITION = "headers";

    /// The header of a lane that has had no commit.
    public static Header first(int lane) {
        return new Header(lane, 0, 1);
    }

    /// The header that an item holds.
    public static Header of(Map<String, AttributeValue> item) {
        byte[] lane = Items.bytes(item, TotalsKey.GROUP);
        return new Header(
                (lane[0] & 0xff) << 8 | lane[1] & 0xff, Items.number(item, COMMITS), Items.number(item, EPOCH));
    }

    /// The item of this header.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new java.util.TreeMap<>(keyOf(lane));
        item.put(COMMITS, Items.number(commits));
        item.put(EPOCH, Items.number(epoch));
        return item;
    }

    /// The key of a lane's header.
    public static Map<String, AttributeValue> keyOf(int lane) {
        return TotalsKey.of(PARTITION, new byte[] {(byte) (lane >> 8), (byte) lane});
    }
}
