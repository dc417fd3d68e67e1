package dev.onefold.core.event;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A tuple of texts as bytes whose unsigned order is the order of the parts, each by its UTF-8 bytes, a shorter
/// tuple before a longer one that begins like it. No text can look like a separator: 00 is written 00 FF, a part
/// ends with 00 01. Immutable.
public record Tuple(byte[] bytes) implements Comparable<Tuple> {

    /// The tuple of these texts.
    public static Tuple of(List<String> parts) {
        byte[] bytes = {};
        for (String part : parts) {
            byte[] text = part.getBytes(StandardCharsets.UTF_8);
            int zeros = 0;
            for (byte b : text) {
                zeros += b == 0 ? 1 : 0;
            }
            int at = bytes.length;
            bytes = Arrays.copyOf(bytes, at + text.length + zeros + 2);
            for (byte b : text) {
                bytes[at++] = b;
                if (b == 0) {
                    bytes[at++] = (byte) 0xff;
                }
            }
            bytes[at + 1] = 1;
        }
        return new Tuple(bytes);
    }

    /// The texts.
    public List<String> parts() {
        List<String> parts = new ArrayList<>();
        byte[] text = new byte[bytes.length];
        int length = 0;
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == 0 && bytes[at + 1] == 1) {
                parts.add(new String(text, 0, length, StandardCharsets.UTF_8));
                length = 0;
                at++;
            } else {
                text[length++] = bytes[at];
                at += bytes[at] == 0 ? 1 : 0;
            }
        }
        return parts;
    }

    /// The tuple of the first parts; this one has at least as many.
    public Tuple prefix(int parts) {
        int at = 0;
        for (int part = 0; part < parts; ) {
            if (bytes[at] != 0) {
                at++;
            } else {
                part += bytes[at + 1] == 1 ? 1 : 0;
                at += 2;
            }
        }
        return at == bytes.length ? this : new Tuple(Arrays.copyOf(bytes, at));
    }

    /// Whether this tuple begins with the parts of the other.
    public boolean startsWith(Tuple prefix) {
        return bytes.length >= prefix.bytes.length
                && Arrays.equals(bytes, 0, prefix.bytes.length, prefix.bytes, 0, prefix.bytes.length);
    }

    @Override
    public int compareTo(Tuple other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Tuple tuple && Arrays.equals(bytes, tuple.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return parts().toString();
    }
}
