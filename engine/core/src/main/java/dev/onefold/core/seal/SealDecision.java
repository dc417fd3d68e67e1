package dev.onefold.core.seal;

import dev.onefold.core.pipeline.Batching;

/// When a batch is sealed: as soon as it is full, or when its first record has waited long enough. The recorded
/// state and the clock decide, never the wake-up that asks. So a wake-up may be lost, doubled or early.
public final class SealDecision {
    private SealDecision() {}

    /// Bytes that a record takes in a batch: its own, and a line end.
    public static long bytes(int recordBytes) {
        return Batching.lineBytes(recordBytes);
    }

    /// How many of the waiting records make a batch now; 0 if no batch is due.
    ///
    /// @param waiting bytes of each record that is in no batch yet, as [#bytes] has them, in their order
    /// @param firstArrivedMs when the first of them arrived
    /// @param nowMs of the clock, read before the records
    public static int cut(Batching batching, long[] waiting, long firstArrivedMs, long nowMs) {
        long bytes = 0;
        for (int i = 0; i < waiting.length; i++) {
            if (i == batching.size() || closes(batching, i, bytes, waiting[i])) {
                return i;
            }
            bytes += waiting[i];
        }
        return waiting.length == batching.size() || isDue(batching, firstArrivedMs, nowMs) ? waiting.length : 0;
    }

    /// Whether a batch is sealed before its next record, which would make it too large.
    ///
    /// @param records number of records in the batch, with these bytes
    public static boolean closes(Batching batching, int records, long bytes, long nextBytes) {
        return records > 0 && (records >= batching.size() || bytes + nextBytes > batching.bytes());
    }

    /// Whether a batch takes no more record, whatever it is.
    public static boolean isFull(Batching batching, int records) {
        return records >= batching.size();
    }

    /// Whether records have waited long enough.
    ///
    /// @param firstArrivedMs when the first of them arrived
    public static boolean isDue(Batching batching, long firstArrivedMs, long nowMs) {
        return nowMs >= dueMs(batching, firstArrivedMs);
    }

    /// The time at which a batch is sealed if it does not become full.
    public static long dueMs(Batching batching, long firstArrivedMs) {
        return firstArrivedMs + batching.waitMax().toMillis();
    }
}
