package dev.onefold.core.event;

import dev.onefold.core.bytes.Hash;
import org.jspecify.annotations.Nullable;

/// The key and the version that a record states, as [Event] encodes them.
///
/// @param key `null` if the record has none, or it cannot be read
/// @param version likewise
public record RecordIdentity(byte @Nullable [] key, byte @Nullable [] version) {
    /// Of a record that states nothing.
    public static final RecordIdentity NONE = new RecordIdentity(null, null);

    /// Whether it states this key.
    public boolean isOf(byte[] other) {
        return key != null && java.util.Arrays.equals(key, other);
    }

    /// A number that is the same for the same key, and 0 where there is none.
    public long keyHash() {
        if (key == null) {
            return 0;
        }
        byte[] padded = java.util.Arrays.copyOf(key, key.length + Hash.PADDING);
        return Hash.of(padded, 0, key.length);
    }
}
