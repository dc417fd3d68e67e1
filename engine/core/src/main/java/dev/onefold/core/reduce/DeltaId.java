package dev.onefold.core.reduce;

import dev.onefold.core.bytes.Hash;
import java.util.Arrays;

/// Names a delta: its lane, and an id that is unique there. The ids of a lane sort roughly by time; only the amount of
/// work per run of Reduce depends on that.
///
/// @param lane from 0
public record DeltaId(int lane, String id) {
    /// Parses the text that [#toString] wrote.
    public static DeltaId parse(String text) {
        int slash = text.indexOf('/');
        return new DeltaId(Integer.parseInt(text, 0, slash, 10), text.substring(slash + 1));
    }

    /// The lane of a key's deltas. All deltas of a key go to one lane, so a delta that retracts is never added before
    /// the delta that it retracts.
    public static int lane(byte[] key, int lanes) {
        byte[] padded = Arrays.copyOf(key, key.length + Hash.PADDING);
        return (int) Long.remainderUnsigned(Hash.of(padded, 0, key.length), lanes);
    }

    @Override
    public String toString() {
        return lane + "/" + id;
    }
}
