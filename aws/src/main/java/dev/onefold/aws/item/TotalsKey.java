package dev.onefold.aws.item;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.state.Amount;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Keys of the items in the table of totals.
///
///     p = view "/" lane: that lane's stripe of the view
///     g = rollup 1, 01, group                    a leaf
///         rollup 1, 02, group, measure 1, value  how often a value is there
///     group  a tuple; over 600 bytes: its first 600, 00 02 and the hash of all of it
///     value  its bytes; over 300: the first 300 and the hash of all of it
///
/// So all leaves of a group follow each other, unless its own name is longer than 600 bytes.
public final class TotalsKey {
    public static final String PARTITION = "p";
    public static final String GROUP = "g";
    private static final int GROUP_BYTES_MAX = 600;
    private static final int VALUE_BYTES_MAX = 300;
    private static final int LEAF = 1;
    private static final int VALUE = 2;

    private TotalsKey() {}

    /// The partition of a lane's stripe of a view.
    public static String partition(int view, int lane) {
        return view + "/" + lane;
    }

    /// The view of a partition.
    public static int view(String partition) {
        return Integer.parseInt(partition, 0, partition.indexOf('/'), 10);
    }

    /// The prefix of the sort keys of all leaves of a roll-up under a group.
    public static byte[] leavesUnder(int rollup, Tuple group) {
        return under(rollup, LEAF, group);
    }

    /// The prefix of the sort keys of all values of a roll-up under a group.
    public static byte[] valuesUnder(int rollup, Tuple group) {
        return under(rollup, VALUE, group);
    }

    private static byte[] under(int rollup, int kind, Tuple group) {
        byte[] tuple = group.bytes();
        byte[] prefix = new byte[2 + Math.min(tuple.length, GROUP_BYTES_MAX)];
        prefix[0] = (byte) rollup;
        prefix[1] = (byte) kind;
        System.arraycopy(tuple, 0, prefix, 2, prefix.length - 2);
        return prefix;
    }

    /// The sort key of a leaf.
    public static byte[] of(Delta.Cell cell) {
        return group(cell, LEAF).toByteArray();
    }

    /// The sort key of a value.
    public static byte[] of(Delta.Value value) {
        ByteArrayOutputStream bytes = group(value.cell(), VALUE);
        bytes.write(value.measure());
        byte[] amount = bytes(value.amount());
        bytes.write(amount, 0, Math.min(amount.length, VALUE_BYTES_MAX));
        if (amount.length > VALUE_BYTES_MAX) {
            bytes.writeBytes(Sha256.of(amount));
        }
        return bytes.toByteArray();
    }

    private static ByteArrayOutputStream group(Delta.Cell cell, int kind) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
        bytes.write(cell.rollup());
        bytes.write(kind);
        byte[] tuple = cell.leaf().bytes();
        bytes.write(tuple, 0, Math.min(tuple.length, GROUP_BYTES_MAX));
        if (tuple.length > GROUP_BYTES_MAX) {
            bytes.write(0);
            bytes.write(2);
            bytes.writeBytes(Sha256.of(tuple));
        }
        return bytes;
    }

    private static byte[] bytes(Amount amount) {
        return switch (amount) {
            case Amount.None _ -> throw new IllegalArgumentException("No value is not a value");
            case Amount.Number(var value) -> value.unscaledValue().toByteArray();
            case Amount.Text(var value) -> value.getBytes(StandardCharsets.UTF_8);
        };
    }

    /// The whole key.
    public static Map<String, AttributeValue> of(String partition, byte[] sortKey) {
        return Map.of(PARTITION, AttributeValue.fromS(partition), GROUP, Items.bytes(sortKey));
    }
}
