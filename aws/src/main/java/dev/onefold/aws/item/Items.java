package dev.onefold.aws.item;

import dev.onefold.core.bytes.RecordKind;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Attributes of items, as the values that they stand for.
public final class Items {
    private Items() {}

    /// Bytes as an attribute.
    public static AttributeValue bytes(byte[] bytes) {
        return AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(bytes));
    }

    /// A number as an attribute.
    public static AttributeValue number(long number) {
        return AttributeValue.fromN(Long.toString(number));
    }

    /// The bytes of an attribute that every such item has.
    public static byte[] bytes(Map<String, AttributeValue> item, String name) {
        return require(item, name).b().asByteArray();
    }

    /// The text of an attribute that every such item has.
    public static String text(Map<String, AttributeValue> item, String name) {
        return require(item, name).s();
    }

    /// The number of an attribute that every such item has.
    public static long number(Map<String, AttributeValue> item, String name) {
        return Long.parseLong(require(item, name).n());
    }

    /// The list of an attribute that every such item has.
    public static List<AttributeValue> list(Map<String, AttributeValue> item, String name) {
        return require(item, name).l();
    }

    /// An attribute that every such item has.
    public static AttributeValue require(Map<String, AttributeValue> item, String name) {
        AttributeValue value = item.get(name);
        if (value == null) {
            throw new IllegalStateException("An item lacks its attribute " + name + "; it has " + item.keySet()
                    + ". Was it written by hand? Restore the table from a backup.");
        }
        return value;
    }

    /// The kind of a record that is kept; from before kinds were noted there is none.
    public static RecordKind kind(Map<String, AttributeValue> item, String name) {
        return item.containsKey(name) ? RecordKind.of((int) number(item, name)) : RecordKind.UNMARKED;
    }

    /// The bytes of a buffer, from its position on.
    public static byte[] copy(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
