package dev.onefold.fakes.aws.table;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// An item as bytes, for a table of millions of items that are seldom read: an item of the SDK's objects takes six
/// times as much. Items with sets, lists or nulls stay as they are.
final class Image {
    private Image() {}

    /// Bytes, or the item itself.
    static Object packed(Map<String, AttributeValue> item) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            return write(item, out) ? bytes.toByteArray() : item;
        } catch (IOException e) {
            throw new UncheckedIOException("Writing into memory failed", e);
        }
    }

    private static boolean write(Map<String, AttributeValue> item, DataOutputStream out) throws IOException {
        out.writeInt(item.size());
        for (Map.Entry<String, AttributeValue> each : item.entrySet()) {
            out.writeUTF(each.getKey());
            AttributeValue value = each.getValue();
            out.writeUTF(value.type().name());
            switch (value.type()) {
                case S, N -> {
                    byte[] text = (value.s() == null ? value.n() : value.s())
                            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
                    out.writeInt(text.length);
                    out.write(text);
                }
                case B -> {
                    byte[] data = value.b().asByteArrayUnsafe();
                    out.writeInt(data.length);
                    out.write(data);
                }
                case BOOL -> out.writeBoolean(value.bool());
                case M -> {
                    if (!write(value.m(), out)) {
                        return false;
                    }
                }
                case SS, NS, BS, L, NUL, UNKNOWN_TO_SDK_VERSION -> {
                    return false;
                }
            }
        }
        return true;
    }

    /// The item that was packed.
    @SuppressWarnings("unchecked")
    static Map<String, AttributeValue> unpacked(Object packed) {
        if (!(packed instanceof byte[] bytes)) {
            return (Map<String, AttributeValue>) packed;
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            return read(in);
        } catch (IOException e) {
            throw new UncheckedIOException("Reading from memory failed", e);
        }
    }

    private static Map<String, AttributeValue> read(DataInputStream in) throws IOException {
        Map<String, AttributeValue> item = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            String name = in.readUTF();
            AttributeValue.Type type = AttributeValue.Type.valueOf(in.readUTF());
            item.put(
                    name,
                    switch (type) {
                        case S -> AttributeValue.fromS(text(in));
                        case N -> AttributeValue.fromN(text(in));
                        case B -> AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(in.readNBytes(in.readInt())));
                        case BOOL -> AttributeValue.fromBool(in.readBoolean());
                        case M -> AttributeValue.fromM(read(in));
                        case SS, NS, BS, L, NUL, UNKNOWN_TO_SDK_VERSION ->
                            throw new IllegalStateException("A packed item has no " + type);
                    });
        }
        return Collections.unmodifiableMap(item);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), java.nio.charset.StandardCharsets.UTF_8);
    }
}
