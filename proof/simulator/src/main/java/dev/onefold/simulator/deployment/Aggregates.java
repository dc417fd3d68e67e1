package dev.onefold.simulator.deployment;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;

/// Puts several records into one, as the Kinesis Producer Library does. It shares nothing with the decoder.
final class Aggregates {
    private static final byte[] MAGIC = {(byte) 0xf3, (byte) 0x89, (byte) 0x9a, (byte) 0xc2};
    private static final int PARTITION_KEY = 1;
    private static final int RECORD = 3;
    private static final int PARTITION_KEY_INDEX = 1;
    private static final int DATA = 3;

    private Aggregates() {}

    /// Each record under a partition key of its own.
    static byte[] of(List<byte[]> records) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        for (int i = 0; i < records.size(); i++) {
            bytes(message, PARTITION_KEY, ("key-" + i).getBytes(StandardCharsets.UTF_8));
        }
        for (int i = 0; i < records.size(); i++) {
            ByteArrayOutputStream record = new ByteArrayOutputStream();
            varint(record, (long) PARTITION_KEY_INDEX << 3);
            varint(record, i);
            bytes(record, DATA, records.get(i));
            bytes(message, RECORD, record.toByteArray());
        }
        ByteArrayOutputStream framed = new ByteArrayOutputStream();
        framed.writeBytes(MAGIC);
        framed.writeBytes(message.toByteArray());
        try {
            framed.writeBytes(MessageDigest.getInstance("MD5").digest(message.toByteArray()));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("This Java has no MD5, which every one must have", missing);
        }
        return framed.toByteArray();
    }

    private static void bytes(ByteArrayOutputStream to, int field, byte[] value) {
        varint(to, (long) field << 3 | 2);
        varint(to, value.length);
        to.writeBytes(value);
    }

    private static void varint(ByteArrayOutputStream to, long value) {
        long rest = value;
        while (rest > 0x7f) {
            to.write((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        to.write((int) rest);
    }
}
