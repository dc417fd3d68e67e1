package dev.onefold.aws.event;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Aggregates records as the Kinesis Producer Library does. It shares nothing with the decoder.
public final class KplEncoder {
    static final byte[] MAGIC = {(byte) 0xf3, (byte) 0x89, (byte) 0x9a, (byte) 0xc2};

    private final List<String> partitionKeys = new ArrayList<>();
    private final List<String> hashKeys = new ArrayList<>();
    private final ByteArrayOutputStream records = new ByteArrayOutputStream();

    /// Whether the tables stand behind the records, which protobuf allows.
    private boolean tablesLast;

    public KplEncoder add(String partitionKey, @Nullable String hashKey, byte[] data) {
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        varintField(record, 1, index(partitionKeys, partitionKey));
        if (hashKey != null) {
            varintField(record, 2, index(hashKeys, hashKey));
        }
        bytesField(record, 3, data);
        bytesField(records, 3, record.toByteArray());
        return this;
    }

    /// Adds a part in bytes that the caller made.
    KplEncoder addRaw(byte[] record) {
        bytesField(records, 3, record);
        return this;
    }

    KplEncoder tablesLast() {
        tablesLast = true;
        return this;
    }

    public byte[] encode() {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        if (!tablesLast) {
            tables(message);
        }
        message.writeBytes(records.toByteArray());
        if (tablesLast) {
            tables(message);
        }
        return frame(message.toByteArray());
    }

    private void tables(ByteArrayOutputStream message) {
        partitionKeys.forEach(key -> bytesField(message, 1, key.getBytes(StandardCharsets.UTF_8)));
        hashKeys.forEach(key -> bytesField(message, 2, key.getBytes(StandardCharsets.UTF_8)));
    }

    /// A message between its magic bytes and its digest.
    static byte[] frame(byte[] message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(MAGIC);
        bytes.writeBytes(message);
        try {
            bytes.writeBytes(MessageDigest.getInstance("MD5").digest(message));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
        return bytes.toByteArray();
    }

    private static int index(List<String> table, String key) {
        if (!table.contains(key)) {
            table.add(key);
        }
        return table.indexOf(key);
    }

    static void varintField(ByteArrayOutputStream to, int number, long value) {
        varint(to, (long) number << 3);
        varint(to, value);
    }

    static void bytesField(ByteArrayOutputStream to, int number, byte[] value) {
        varint(to, (long) number << 3 | 2);
        varint(to, value.length);
        to.writeBytes(value);
    }

    private static void varint(ByteArrayOutputStream to, long value) {
        long rest = value;
        do {
            int low = (int) (rest & 0x7f);
            rest >>>= 7;
            to.write(rest == 0 ? low : low | 0x80);
        } while (rest != 0);
    }
}
