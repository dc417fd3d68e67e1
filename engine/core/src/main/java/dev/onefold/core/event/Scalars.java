package dev.onefold.core.event;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.pipeline.Input.Spellings;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads one field as text or number into a buffer of its own. Not thread-safe.
final class Scalars {
    static final int NOT_TEXT = -1;
    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};

    final Spellings spellings;

    byte[] bytes = new byte[1 << 12];
    /// Of the text that [#isEscaped] has read.
    int textLength;

    Scalars() {
        this(Spellings.NONE);
    }

    Scalars(Spellings spellings) {
        this.spellings = spellings;
    }

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
                return undouble(fields, from, from + length, at, fields.quote);
            }
            case Fields.BARE_TEXT -> {
                return undouble(fields, from, from + length, at, fields.escape);
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

    /// Whether the field is a text with escapes, doubled quotes or other separators of a number; then the text
    /// is read, into the first `textLength` bytes.
    boolean isEscaped(Fields fields, int slot) {
        byte kind = fields.kind[slot];
        LocalNumbers numbers = fields.numbers;
        if (kind == Fields.LOCAL_TEXT && numbers != null) {
            reserve(fields.to[slot] - fields.from[slot] + 1);
            textLength = numbers.plain(fields.bytes, fields.from[slot], fields.to[slot], bytes);
            return true;
        }
        if (kind != Fields.ESCAPED_TEXT && kind != Fields.DOUBLED_TEXT && kind != Fields.BARE_TEXT) {
            return false;
        }
        textLength = text(fields, slot, 0);
        return true;
    }

    /// A message about the text that [#isEscaped] has read, with a local number as the record has it.
    String asSent(String message, Fields fields, int slot) {
        return fields.kind[slot] != Fields.LOCAL_TEXT
                ? message
                : message.replace(
                        Malformed.excerpt(bytes, 0, textLength),
                        Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot]));
    }

    /// Whether the first bytes are the word `true`.
    boolean isTrue(int length) {
        return Arrays.equals(bytes, 0, length, TRUE, 0, TRUE.length);
    }

    /// Whether the first bytes are the word `false`.
    boolean isFalse(int length) {
        return Arrays.equals(bytes, 0, length, FALSE, 0, FALSE.length);
    }

    /// Whether a text is not in Unicode's composed form, and should be; then it is brought to it, in the first
    /// `textLength` bytes.
    boolean isNormalized(byte[] text, int from, int to) {
        int at = from;
        while (spellings.normalized() && at < to && text[at] >= 0) {
            at++;
        }
        if (at == to || !spellings.normalized()) {
            return false; // ASCII is composed.
        }
        String read = new String(text, from, to - from, StandardCharsets.UTF_8);
        if (Normalizer.isNormalized(read, Normalizer.Form.NFC)) {
            return false;
        }
        textLength = put(Normalizer.normalize(read, Normalizer.Form.NFC), 0);
        return true;
    }

    /// Reads the text of a field that is not missing, in Unicode's composed form if that is wanted, at 0.
    int normalText(Fields fields, int slot) {
        int length = text(fields, slot, 0);
        return length > 0 && isNormalized(bytes, 0, length) ? textLength : length;
    }

    /// Whether a text is written like a JSON number, but not as Onefold writes the text of this number: `1.0`,
    /// `1e0`, `-0`.
    static boolean isUnusualNumber(byte[] text, int from, int to) {
        int first = from < to && text[from] == '-' ? from + 1 : from;
        int at = digits(text, first, to);
        if (at == first || text[first] == '0' && at > first + 1) {
            return false;
        }
        if (at < to && text[at] == '.') {
            int fraction = at + 1;
            at = digits(text, fraction, to);
            if (at == fraction || at == to) {
                return at == to && at > fraction && text[at - 1] == '0';
            }
        }
        if (at == to) {
            return first > from && text[first] == '0';
        }
        int exponent = at + 1 < to && (text[at + 1] == '-' || text[at + 1] == '+') ? at + 2 : at + 1;
        int end = digits(text, exponent, to);
        return (text[at] | 0x20) == 'e' && end == to && end > exponent;
    }

    private static int digits(byte[] text, int from, int to) {
        int at = from;
        while (at < to && text[at] >= '0' && text[at] <= '9') {
            at++;
        }
        return at;
    }

    /// Writes the text of the integer that is spelled at `[from, to)` at 0, and returns its length, or
    /// [#NOT_TEXT] if it is not an integer.
    int integer(byte[] text, int from, int to) {
        int first = from < to && text[from] == '-' ? from + 1 : from;
        boolean isPlain = digits(text, first, to) == to && to > first && (text[first] != '0' || to - from == 1);
        if (isPlain) {
            reserve(to - from);
            System.arraycopy(text, from, bytes, 0, to - from);
            return to - from;
        }
        BigDecimal number = Decimals.parse(text, from, to);
        if (number == null
                || number.signum() != 0 && number.stripTrailingZeros().scale() > 0) {
            return NOT_TEXT;
        }
        return number.precision() - (long) number.scale() > Decimals.CHARACTERS_MAX ? NOT_TEXT : put(plain(number), 0);
    }

    private int undouble(Fields fields, int from, int to, int at, byte pair) {
        byte[] source = fields.bytes;
        int out = at;
        for (int i = from; i < to; i++) {
            boolean isPair = source[i] == pair || fields.escape != 0 && source[i] == fields.escape;
            i += isPair ? 1 : 0;
            bytes[out++] = source[i];
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
