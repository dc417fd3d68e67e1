package dev.onefold.aws.event;

import dev.onefold.core.pipeline.Limits;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A record in which the Kinesis Producer Library has put several:
///
///     F3 89 9A C2 | protobuf message | MD5 of the message, 16 bytes
///     message:  1 partition key (repeated) | 2 explicit hash key (repeated) | 3 record (repeated)
///     record:   1 index of partition key | 2 index of explicit hash key | 3 data | 4 tags
///
/// Bytes that merely resemble the format, or that hold no record, are one plain record: so there is something that can
/// be kept whole if it cannot be decoded.
///
/// The Kinesis Client Library leaves out a part whose key lies outside the hash range of the shard it came from: after
/// a split the producer's library sends such a part a second time, to the right shard. An event names no hash range,
/// other producers do not send a second time, and a part that comes twice is a duplicate by its key and version. So
/// nothing is left out.
public final class Aggregated {
    private static final byte[] MAGIC = {(byte) 0xf3, (byte) 0x89, (byte) 0x9a, (byte) 0xc2};
    private static final int DIGEST_BYTES = 16;

    private static final int PARTITION_KEY = 1;
    private static final int EXPLICIT_HASH_KEY = 2;
    private static final int RECORD = 3;
    private static final int PARTITION_KEY_INDEX = 1;
    private static final int EXPLICIT_HASH_KEY_INDEX = 2;
    private static final int DATA = 3;

    /// A part, as its producer gave it to the library. Its index is the sub-sequence number.
    public record UserRecord(String partitionKey, @Nullable String explicitHashKey, byte[] data) {}

    private Aggregated() {}

    /// The arrivals of a record of a stream: one for each part of an aggregated record, or one for the record
    /// itself.
    ///
    /// @param shard as [Arrival#shard] has it
    /// @param atMs as [Arrival#atMs] has it
    public static List<Arrival> arrivals(String shard, String sequence, byte[] record, long atMs) {
        List<UserRecord> parts = split(record);
        if (parts == null) {
            return List.of(new Arrival(shard, sequence, 0, record, atMs));
        }
        List<Arrival> arrivals = new ArrayList<>();
        for (UserRecord part : parts) {
            arrivals.add(new Arrival(shard, sequence, arrivals.size(), part.data(), atMs));
        }
        return arrivals;
    }

    /// The parts of an aggregated record; `null` if it is not one.
    public static @Nullable List<UserRecord> split(byte[] record) {
        int end = record.length - DIGEST_BYTES;
        if (end <= MAGIC.length
                || record.length > Limits.RECORD_BYTES_MAX
                || !Arrays.equals(record, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            return null;
        }
        byte[] digest = md5(record, MAGIC.length, end);
        if (!Arrays.equals(record, end, record.length, digest, 0, DIGEST_BYTES)) {
            return null;
        }
        List<UserRecord> parts = new ArrayList<>();
        return readMessage(record, end, parts) && !parts.isEmpty() ? parts : null;
    }

    private static boolean readMessage(byte[] record, int end, List<UserRecord> parts) {
        List<String> partitionKeys = new ArrayList<>();
        List<String> hashKeys = new ArrayList<>();
        ProtobufFields fields = new ProtobufFields(record, MAGIC.length, end);
        while (fields.next()) {
            if (fields.isBytes(PARTITION_KEY)) {
                partitionKeys.add(text(record, fields));
            } else if (fields.isBytes(EXPLICIT_HASH_KEY)) {
                hashKeys.add(text(record, fields));
            }
        }
        if (fields.broken()) {
            return false;
        }
        // A second walk, because the tables may stand behind the records.
        ProtobufFields again = new ProtobufFields(record, MAGIC.length, end);
        while (again.next()) {
            if (again.isBytes(RECORD)) {
                UserRecord part = part(record, again, partitionKeys, hashKeys);
                if (part == null) {
                    return false;
                }
                parts.add(part);
            }
        }
        return true;
    }

    private static @Nullable UserRecord part(
            byte[] record, ProtobufFields place, List<String> partitionKeys, List<String> hashKeys) {
        String partitionKey = null;
        String hashKey = null;
        byte[] data = null;
        ProtobufFields fields = new ProtobufFields(record, place.from(), place.to());
        while (fields.next()) {
            if (fields.isVarint(PARTITION_KEY_INDEX)) {
                partitionKey = at(partitionKeys, fields.value());
                if (partitionKey == null) {
                    return null;
                }
            } else if (fields.isVarint(EXPLICIT_HASH_KEY_INDEX)) {
                hashKey = at(hashKeys, fields.value());
                if (hashKey == null) {
                    return null;
                }
            } else if (fields.isBytes(DATA)) {
                data = Arrays.copyOfRange(record, fields.from(), fields.to());
            }
        }
        return fields.broken() || partitionKey == null || data == null
                ? null
                : new UserRecord(partitionKey, hashKey, data);
    }

    private static @Nullable String at(List<String> table, long index) {
        return index < 0 || index >= table.size() ? null : table.get((int) index);
    }

    private static String text(byte[] record, ProtobufFields field) {
        return new String(record, field.from(), field.to() - field.from(), StandardCharsets.UTF_8);
    }

    private static byte[] md5(byte[] bytes, int from, int to) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(bytes, from, to - from);
            return digest.digest();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("This Java has no MD5, which every one must have", missing);
        }
    }
}
