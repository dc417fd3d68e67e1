package dev.onefold.simulator.deployment;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/// Makes one record large now and then, by a field that no pipeline reads: larger than what a stream takes without
/// being asked to, or than any event of a function.
final class Padding {
    private static final int ONE_IN = 150;
    private static final int LARGE = 1_300_000;
    private static final int TOO_LARGE_FOR_AN_EVENT = 4_800_000;

    private Padding() {}

    /// The same records, mostly.
    static List<byte[]> some(List<byte[]> records, SplittableRandom random) {
        List<byte[]> padded = new ArrayList<>(records);
        int at = random.nextInt(records.size());
        if (random.nextInt(ONE_IN) == 0) {
            padded.set(at, padded(records.get(at), random.nextBoolean() ? LARGE : TOO_LARGE_FOR_AN_EVENT));
        }
        return padded;
    }

    /// Of JSON only an object can have one more field.
    private static byte[] padded(byte[] record, int bytes) {
        if (record.length < 3 || record[0] != '{' || record[1] != '"') {
            return record;
        }
        byte[] padding = new byte[bytes];
        Arrays.fill(padding, (byte) 'x');
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("{\"☃ padding\":\"".getBytes(StandardCharsets.UTF_8));
        out.writeBytes(padding);
        out.writeBytes("\",".getBytes(StandardCharsets.UTF_8));
        out.write(record, 1, record.length - 1);
        return out.toByteArray();
    }
}
