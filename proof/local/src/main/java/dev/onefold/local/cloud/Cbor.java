package dev.onefold.local.cloud;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// As much of CBOR (RFC 8949) as AWS's protocol `rpc-v2-cbor` uses: texts, numbers, times, lists and maps.
final class Cbor {
    private static final int NUMBER = 0;
    private static final int NEGATIVE = 1;
    private static final int BYTES = 2;
    private static final int TEXT = 3;
    private static final int LIST = 4;
    private static final int MAP = 5;
    private static final int TAG = 6;
    private static final int INDEFINITE = 31;
    private static final int BREAK = 0xff;
    private static final int DOUBLE = 0xfb;
    private static final int TIME = 1;

    private Cbor() {}

    /// Reads a map: its values are maps, lists, texts, `Long`, `Double`, `Boolean`, `Instant`, bytes.
    static Map<?, ?> read(byte[] bytes) throws IOException {
        if (bytes.length == 0) {
            return Map.of();
        }
        try {
            if (value(ByteBuffer.wrap(bytes)) instanceof Map<?, ?> map) {
                return map;
            }
            throw new IOException("The request is CBOR, and no map");
        } catch (BufferUnderflowException e) {
            throw new IOException("The request's CBOR ends too early", e);
        }
    }

    private static @Nullable Object value(ByteBuffer in) throws IOException {
        int head = in.get() & 0xff;
        int major = head >> 5;
        int info = head & 0x1f;
        return switch (major) {
            case NUMBER -> length(in, info);
            case NEGATIVE -> -1 - length(in, info);
            case BYTES, TEXT -> text(in, info, major);
            case LIST -> list(in, info);
            case MAP -> map(in, info);
            case TAG -> tagged(length(in, info), value(in));
            default ->
                switch (info) {
                    case 20 -> false;
                    case 21 -> true;
                    case 22, 23 -> null;
                    case 26 -> (double) in.getFloat();
                    case 27 -> in.getDouble();
                    default -> throw new IOException("CBOR's simple value " + info + " is not known here");
                };
        };
    }

    private static @Nullable Object tagged(long tag, @Nullable Object value) throws IOException {
        if (tag != TIME || !(value instanceof Number seconds)) {
            throw new IOException("CBOR's tag " + tag + " is not known here");
        }
        return Instant.ofEpochMilli(Math.round(seconds.doubleValue() * 1_000));
    }

    private static long length(ByteBuffer in, int info) throws IOException {
        return switch (info) {
            case 24 -> in.get() & 0xff;
            case 25 -> in.getShort() & 0xffff;
            case 26 -> in.getInt() & 0xffff_ffffL;
            case 27 -> in.getLong();
            default -> {
                if (info > 24) {
                    throw new IOException("CBOR's length " + info + " is not known here");
                }
                yield info;
            }
        };
    }

    private static Object text(ByteBuffer in, int info, int major) throws IOException {
        long length = length(in, info);
        if (length < 0 || length > in.remaining()) {
            throw new IOException("The request's CBOR ends too early");
        }
        byte[] bytes = new byte[(int) length];
        in.get(bytes);
        return major == TEXT ? new String(bytes, StandardCharsets.UTF_8) : bytes;
    }

    private static boolean isMore(ByteBuffer in, int info, long left) {
        if (info != INDEFINITE) {
            return left > 0;
        }
        if ((in.get(in.position()) & 0xff) == BREAK) {
            in.get();
            return false;
        }
        return true;
    }

    private static List<Object> list(ByteBuffer in, int info) throws IOException {
        List<Object> list = new ArrayList<>();
        long left = info == INDEFINITE ? 0 : length(in, info);
        while (isMore(in, info, left--)) {
            Object item = value(in);
            if (item != null) {
                list.add(item);
            }
        }
        return list;
    }

    private static Map<Object, Object> map(ByteBuffer in, int info) throws IOException {
        Map<Object, Object> map = new LinkedHashMap<>();
        long left = info == INDEFINITE ? 0 : length(in, info);
        while (isMore(in, info, left--)) {
            Object name = value(in);
            Object item = value(in);
            if (name != null && item != null) {
                map.put(name, item);
            }
        }
        return map;
    }

    /// Writes a map of maps, lists, texts, whole numbers, `Double`, `Boolean` and `Instant`.
    static byte[] write(Map<String, ?> map) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(out, map);
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, Object value) {
        switch (value) {
            case Map<?, ?> map -> {
                head(out, MAP, map.size());
                map.forEach((name, item) -> {
                    write(out, String.valueOf(name));
                    write(out, item);
                });
            }
            case List<?> list -> {
                head(out, LIST, list.size());
                list.forEach(item -> write(out, item));
            }
            case Double number -> {
                out.write(DOUBLE);
                out.writeBytes(
                        ByteBuffer.allocate(Double.BYTES).putDouble(number).array());
            }
            case Instant instant -> {
                head(out, TAG, TIME);
                write(out, instant.toEpochMilli() / 1_000.0);
            }
            default -> {
                byte[] text = value.toString().getBytes(StandardCharsets.UTF_8);
                head(out, TEXT, text.length);
                out.writeBytes(text);
            }
        }
    }

    private static void head(ByteArrayOutputStream out, int major, int length) {
        out.write(major << 5 | 26);
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
    }
}
