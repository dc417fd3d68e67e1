package dev.onefold.embedded.delivery;

import dev.onefold.core.SealedBatches.Decided;
import dev.onefold.core.batch.Delivery;
import dev.onefold.embedded.batches.Sealed;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/// A delivery that a person has ended. It is kept for ever, with the size of its batch, whose own entry is
/// deleted.
///
///     entry = the delivery as its other entries, records int, bytes long, sealedMs long
///
/// @param records of the batch or the part
/// @param bytes of them
/// @param sealedMs when the batch was sealed
record Decision(Handled handled, int records, long bytes, long sealedMs) {
    private static final int MORE_BYTES = Integer.BYTES + 2 * Long.BYTES;

    static Decision of(Handled handled, Sealed sealed) {
        return handled.members() == null
                ? new Decision(handled, sealed.records(), sealed.bytes(), sealed.sealedMs())
                : new Decision(handled, handled.members().count(), handled.bytes(), sealed.sealedMs());
    }

    /// Whether a person has ended a delivery.
    static boolean isOne(Handled handled) {
        return handled.delivery() instanceof Delivery.Done done && done.isDecided();
    }

    byte[] encode() {
        byte[] entry = handled.encode();
        return ByteBuffer.allocate(entry.length + MORE_BYTES)
                .put(entry)
                .putInt(records)
                .putLong(bytes)
                .putLong(sealedMs)
                .array();
    }

    /// The decision in an entry; `null` if it is not one, or one of a version that kept none.
    static @Nullable Decision decode(byte[] entry, Handled handled) {
        if (!isOne(handled) || entry.length != handled.encode().length + MORE_BYTES) {
            return null;
        }
        ByteBuffer more = ByteBuffer.wrap(Arrays.copyOfRange(entry, entry.length - MORE_BYTES, entry.length));
        return new Decision(handled, more.getInt(), more.getLong(), more.getLong());
    }

    private boolean isDiscarded() {
        return handled.delivery() instanceof Delivery.Done done && done.how() == Delivery.How.DISCARDED;
    }

    /// How many there are of each kind.
    static Decided count(Collection<Decision> decisions) {
        long discarded = decisions.stream().filter(Decision::isDiscarded).count();
        long records = decisions.stream()
                .filter(Decision::isDiscarded)
                .mapToLong(Decision::records)
                .sum();
        return new Decided(decisions.size() - discarded, discarded, records);
    }
}
