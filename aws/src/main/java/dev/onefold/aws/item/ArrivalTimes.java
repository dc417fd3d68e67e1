package dev.onefold.aws.item;

import dev.onefold.aws.event.Arrival;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;

/// When the records of a delta came, so that whoever makes them visible can say how long that took. Counted in
/// steps of a tenth of a second from the first one; what came more than [#STEPS_MAX] steps after it counts as if
/// it came then.
///
/// @param firstMs when the first record came, epoch milliseconds
/// @param counts records of each step; empty if nobody says when they came
public record ArrivalTimes(long firstMs, int[] counts) {
    public static final ArrivalTimes NONE = new ArrivalTimes(0, new int[0]);

    /// Milliseconds of a step.
    public static final int STEP_MS = 100;

    /// A batch is seldom longer, and a delta is paid for by the KB.
    private static final int STEPS_MAX = 100;

    /// The times of these records.
    public static ArrivalTimes of(Collection<Arrival> arrivals) {
        long[] known = arrivals.stream()
                .mapToLong(Arrival::atMs)
                .filter(at -> at != Arrival.NOT_KNOWN)
                .sorted()
                .toArray();
        if (known.length == 0) {
            return NONE;
        }
        int[] counts = new int[step(known[0], known[known.length - 1]) + 1];
        for (long at : known) {
            counts[step(known[0], at)]++;
        }
        return new ArrivalTimes(known[0], counts);
    }

    private static int step(long firstMs, long atMs) {
        return (int) Math.min((atMs - firstMs) / STEP_MS, STEPS_MAX - 1);
    }

    /// As bytes: the first time, then two bytes for each step, which hold a delta's 90 rows.
    byte[] bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + counts.length * Short.BYTES);
        bytes.putLong(firstMs);
        for (int count : counts) {
            bytes.putShort((short) count);
        }
        return bytes.array();
    }

    static ArrivalTimes of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        long firstMs = buffer.getLong();
        int[] counts = new int[buffer.remaining() / Short.BYTES];
        Arrays.setAll(counts, _ -> Short.toUnsignedInt(buffer.getShort()));
        return new ArrivalTimes(firstMs, counts);
    }
}
