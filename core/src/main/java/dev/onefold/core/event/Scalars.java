package dev.onefold.core.event;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.bytes.TextBytes;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads one field as text or number into a buffer of its own. Not thread-safe.
final class Scalars {
    static final int NOT_TEXT = -1;
    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};

    byte[] bytes = new byte[1 << 12];
    /// Of the text that [#isEscaped] has read.
    int textLength;

    private void reserve(int length) {
        if (length + Hash.PADDING > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + Hash.PADDING));
        }
    }

    /// Writes the text of a field that is not missing at `at`, and returns its length, or [#NOT_TEXT].
    int text(Fields fields, int slot, int at) {
        int from = fields.from[slot];
        int length = fields.to[slot] - from;
        reserve(at + length);
        switch (fields.kind[slot]) {
            case Fields.TEXT, Fields.LOCAL_TEXT -> {
                System.arraycopy(fields.bytes, from, bytes, at, length);
                return length;
            }
            case Fields.ESCAPED_TEXT -> {
                return TextBytes.unescape(fields.bytes, from, from + length, bytes, at);
            }
            case Fields.DOUBLED_TEXT -> {
                return undouble(fields.bytes, from, from + length, at, fields.quote);
            }
            case Fields.NUMBER -> {
                return number(fields.bytes, from, length, at);
            }
            case Fields.TRUE -> {
                return put(TRUE, at);
            }
            case Fields.FALSE -> {
                return put(FALSE, at);
            }
            default -> {
                return NOT_TEXT;
            }
        }
    }

    /// Whether the field is a text with escapes, doubled quotes or other separators of a number; then the text is read,
    /// into the first `textLength` bytes.
    boolean isEscaped(Fields fields, int slot) {
        byte kind = fields.kind[slot];
        LocalNumbers numbers = fields.numbers;
        if (kind == Fields.LOCAL_TEXT && numbers != null) {
            reserve(fields.to[slot] - fields.from[slot] + 1);
            textLength = numbers.plain(fields.bytes, fields.from[slot], fields.to[slot], bytes);
            return true;
        }
        if (kind != Fields.ESCAPED_TEXT && kind != Fields.DOUBLED_TEXT) {
            return false;
        }
        textLength = text(fields, slot, 0);
        return true;
    }

    private int undouble(byte[] source, int from, int to, int at, byte quote) {
        int out = at;
        for (int i = from; i < to; i++) {
            bytes[out++] = source[i];
            if (source[i] == quote) {
                i++;
            }
        }
        return out - at;
    }

    private int number(byte[] source, int from, int length, int at) {
        boolean negative = source[from] == '-';
        boolean digits = true;
        for (int i = negative ? from + 1 : from; i < from + length; i++) {
            digits &= source[i] >= '0' && source[i] <= '9';
        }
        if (digits && !(negative && source[from + 1] == '0')) { // Minus zero is zero.
            System.arraycopy(source, from, bytes, at, length);
            return length;
        }
        BigDecimal number = Decimals.parse(source, from, from + length);
        if (number == null || Math.abs((long) number.scale()) > Decimals.CHARACTERS_MAX) {
            return NOT_TEXT;
        }
        return put(plain(number).getBytes(StandardCharsets.US_ASCII), at);
    }

    static String plain(BigDecimal number) {
        return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
    }

    private int put(byte[] text, int at) {
        reserve(at + text.length);
        System.arraycopy(text, 0, bytes, at, text.length);
        return text.length;
    }

    /// Writes text at `at` and returns its length.
    int put(String text, int at) {
        return put(text.getBytes(StandardCharsets.UTF_8), at);
    }

    /// The field as a number, or `null` if it is not one. It must not be missing.
    @Nullable
    BigDecimal number(Fields fields, int slot) {
        return switch (fields.kind[slot]) {
            case Fields.TEXT, Fields.NUMBER -> Decimals.parse(fields.bytes, fields.from[slot], fields.to[slot]);
            default -> isEscaped(fields, slot) ? Decimals.parse(bytes, 0, textLength) : null;
        };
    }
}
