package dev.onefold.core.event;

import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.Limits;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads numbers exactly: a decimal of declared type becomes its unscaled value in 128 bits, `hi` and `lo`. A
/// number is measured before it is built, so that 1e999999999 costs nothing. Not thread-safe.
final class Decimals {
    /// Length of the longest number that is read, in characters.
    static final int CHARACTERS_MAX = 1_000;
    /// Farther from the point than any number that counts.
    private static final int EXPONENT_MAX = 10_000;

    private static final int LONG_DIGITS = 18;
    private static final long[] POWERS = new long[LONG_DIGITS + 1];

    static {
        POWERS[0] = 1;
        for (int i = 1; i < POWERS.length; i++) {
            POWERS[i] = POWERS[i - 1] * 10;
        }
    }

    long hi;
    long lo;

    /// Reads the number at `[from, to)`; `null`, or the problem.
    @Nullable
    String read(byte[] bytes, int from, int to, DecimalType type) {
        int at = from;
        boolean negative = at < to && bytes[at] == '-';
        if (negative) {
            at++;
        }
        long value = 0;
        int digits = 0;
        int point = -1;
        for (; at < to; at++) {
            int digit = bytes[at] - '0';
            if (digit >= 0 && digit <= 9) {
                value = value * 10 + digit;
                digits++;
            } else if (bytes[at] == '.' && point < 0 && digits > 0) {
                point = digits;
            } else {
                break;
            }
        }
        int fraction = point < 0 ? 0 : digits - point;
        int scaled = digits + type.scale() - fraction;
        boolean plain = at == to
                && digits > 0
                && digits <= LONG_DIGITS
                && fraction <= type.scale()
                && scaled <= LONG_DIGITS
                && point != digits;
        if (!plain) {
            return readAny(bytes, from, to, type);
        }
        value *= POWERS[type.scale() - fraction];
        if (type.precision() < LONG_DIGITS && value >= POWERS[type.precision()]) {
            return tooManyDigits(bytes, from, to, type);
        }
        lo = negative ? -value : value;
        hi = lo >> 63;
        return null;
    }

    private @Nullable String readAny(byte[] bytes, int from, int to, DecimalType type) {
        BigDecimal number = parse(bytes, from, to);
        if (number == null) {
            return to - from > CHARACTERS_MAX
                    ? "is a number of " + (to - from) + " characters; " + CHARACTERS_MAX + " are read at most"
                    : "is " + Malformed.excerpt(bytes, from, to) + ", which is not a number";
        }
        return set(number, type) ? null : tooManyDigits(bytes, from, to, type);
    }

    /// Takes a number that was calculated; `null`, or the problem.
    @Nullable
    String fit(BigDecimal number, DecimalType type) {
        if (set(number, type)) {
            return null;
        }
        byte[] text = Scalars.plain(number).getBytes(StandardCharsets.US_ASCII);
        return tooManyDigits(text, 0, text.length, type);
    }

    private boolean set(BigDecimal number, DecimalType type) {
        Optional<BigDecimal> fitting = type.fit(number);
        if (fitting.isEmpty()) {
            return false;
        }
        BigInteger unscaled = fitting.get().unscaledValue();
        lo = unscaled.longValue();
        hi = unscaled.shiftRight(64).longValue();
        return true;
    }

    private static String tooManyDigits(byte[] bytes, int from, int to, DecimalType type) {
        return "is " + Malformed.excerpt(bytes, from, to) + ", which does not fit " + type + ": at most "
                + Math.max(0, type.valueDigitsMax() - type.scale())
                + " digits before the point and " + type.scale() + " behind it"
                + (type.precision() > Limits.VALUE_DIGITS_MAX
                        ? ", because a value has at most " + Limits.VALUE_DIGITS_MAX + " in all, though a sum has "
                                + Limits.SUM_DIGITS_MAX
                        : "")
                + "; values are refused, never rounded";
    }

    /// Any number of at most [#CHARACTERS_MAX] characters, or `null`. Leading zeros are allowed, because text
    /// has them. An exponent beyond [#EXPONENT_MAX] is replaced by that one. Neither number fits a type,
    /// equals a number of a condition, or is written out; but the greater one could cost unlimited time and
    /// memory.
    static @Nullable BigDecimal parse(byte[] bytes, int from, int to) {
        if (to - from > CHARACTERS_MAX || !isNumber(bytes, from, to)) {
            return null;
        }
        int end = from;
        while (end < to && (bytes[end] | 0x20) != 'e') {
            end++;
        }
        BigDecimal mantissa = new BigDecimal(new String(bytes, from, end - from, StandardCharsets.ISO_8859_1));
        return end == to || mantissa.signum() == 0
                ? mantissa
                : mantissa.scaleByPowerOfTen(exponent(bytes, end + 1, to));
    }

    private static int exponent(byte[] bytes, int from, int to) {
        boolean signed = bytes[from] == '-' || bytes[from] == '+';
        int value = 0;
        for (int i = signed ? from + 1 : from; i < to && value <= EXPONENT_MAX; i++) {
            value = value * 10 + bytes[i] - '0';
        }
        value = Math.min(value, EXPONENT_MAX);
        return bytes[from] == '-' ? -value : value;
    }

    private static boolean isNumber(byte[] bytes, int from, int to) {
        int at = from;
        if (at < to && bytes[at] == '-') {
            at++;
        }
        int whole = digitsEnd(bytes, at, to);
        if (whole == at) {
            return false;
        }
        at = whole;
        if (at < to && bytes[at] == '.') {
            int fraction = digitsEnd(bytes, at + 1, to);
            if (fraction == at + 1) {
                return false;
            }
            at = fraction;
        }
        if (at < to && (bytes[at] | 0x20) == 'e') {
            at++;
            if (at < to && (bytes[at] == '+' || bytes[at] == '-')) {
                at++;
            }
            int exponent = digitsEnd(bytes, at, to);
            if (exponent == at) {
                return false;
            }
            at = exponent;
        }
        return at == to;
    }

    private static int digitsEnd(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        return at;
    }

    /// The number of an unscaled value in 128 bits, at a scale.
    static BigDecimal decimal(long hi, long lo, int scale) {
        if (hi == lo >> 63) {
            return BigDecimal.valueOf(lo, scale);
        }
        BigInteger unscaled = BigInteger.valueOf(hi)
                .shiftLeft(64)
                .or(BigInteger.valueOf(lo).and(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE)));
        return new BigDecimal(unscaled, scale);
    }
}
