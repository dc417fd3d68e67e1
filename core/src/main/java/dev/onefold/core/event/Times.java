package dev.onefold.core.event;

import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads instants: ISO-8601 with an offset, or epoch seconds or milliseconds with a fraction of up to
/// nanoseconds. The result is in `seconds` since 1970-01-01T00:00Z and `nanos` within the second, 0 to
/// 999,999,999. Not thread-safe.
final class Times {
    private static final long SECONDS_MAX = 31_556_889_864_403_199L; // java.time.Instant.MAX
    private static final long LIKELY_SECONDS_MIN = -2_208_988_800L; // 1900-01-01T00:00Z
    private static final long LIKELY_SECONDS_MAX = 7_258_118_400L; // 2200-01-01T00:00Z
    private static final long RECENT_SECONDS_MIN = 315_532_800L; // 1980-01-01T00:00Z
    private static final int NANO_DIGITS = 9;
    private static final int NO_DIGITS = -1_000_000; // No year that it is a part of can come out positive.

    long seconds;
    int nanos;

    /// Reads the instant of a field that is not missing; `null`, or the problem.
    @Nullable
    String read(Fields fields, int slot, Scalars scalars, TimeType type) {
        byte kind = fields.kind[slot];
        if (kind == Fields.NUMBER || kind == Fields.TEXT) {
            return read(fields.bytes, fields.from[slot], fields.to[slot], kind == Fields.NUMBER, type);
        }
        return scalars.isEscaped(fields, slot)
                ? read(scalars.bytes, 0, scalars.textLength, false, type)
                : "is not a time";
    }

    /// Reads the instant at `[from, to)`; `null`, or the problem.
    @Nullable
    String read(byte[] bytes, int from, int to, boolean number, TimeType type) {
        boolean good = switch (type) {
            case ISO -> !number && iso(bytes, from, to);
            case EPOCH_SECONDS -> epoch(bytes, from, to, 0);
            case EPOCH_MILLIS -> epoch(bytes, from, to, 3);
            case AUTO -> number ? epoch(bytes, from, to, 0) : iso(bytes, from, to);
        };
        if (good) {
            return null;
        }
        String wanted = switch (type) {
            case ISO -> "ISO-8601 with an offset, such as 2026-11-21T09:30:00Z";
            case EPOCH_SECONDS -> "epoch seconds";
            case EPOCH_MILLIS -> "epoch milliseconds";
            case AUTO -> "ISO-8601 text with an offset, or epoch seconds as a number";
        };
        return "is " + Malformed.excerpt(bytes, from, to) + ", which is not a time; wanted is " + wanted;
    }

    /// The reason why the time that was just read is unlikely for an event; `null` if it is in the years 1900 to
    /// 2199. A time outside of them is nearly always a number in another unit.
    @Nullable
    String unlikely(TimeType type) {
        if (seconds >= LIKELY_SECONDS_MIN && seconds < LIKELY_SECONDS_MAX) {
            return null;
        }
        String read = "is read as the time " + Instant.ofEpochSecond(seconds) + "; taken are the years 1900 to 2199";
        if (type == TimeType.ISO) {
            return read;
        }
        List<String> units = List.of("milliseconds", "microseconds", "nanoseconds");
        long divided = seconds;
        for (String unit : type == TimeType.EPOCH_MILLIS ? units.subList(1, units.size()) : units) {
            divided /= 1_000;
            if (divided > RECENT_SECONDS_MIN && divided < LIKELY_SECONDS_MAX) {
                String advice = unit.equals("milliseconds") ? "write the type epoch-millis" : "send milliseconds";
                return read + ". As " + unit + " it is " + Instant.ofEpochSecond(divided) + ": " + advice;
            }
        }
        return read;
    }

    private boolean epoch(byte[] bytes, int from, int to, int shift) {
        int at = from;
        boolean negative = at < to && bytes[at] == '-';
        if (negative) {
            at++;
        }
        long whole = 0;
        int first = at;
        while (at < to && at - first <= NANO_DIGITS + 8 && bytes[at] >= '0' && bytes[at] <= '9') {
            whole = whole * 10 + bytes[at++] - '0';
        }
        if (at == first) {
            return false;
        }
        long fraction = 0;
        int fractionDigits = 0;
        if (at < to && bytes[at] == '.') {
            at++;
            while (at < to && fractionDigits < NANO_DIGITS - shift && bytes[at] >= '0' && bytes[at] <= '9') {
                fraction = fraction * 10 + bytes[at++] - '0';
                fractionDigits++;
            }
            if (fractionDigits == 0) {
                return false;
            }
        }
        if (at < to || negative) {
            return epochAny(bytes, from, to, shift);
        }
        for (int i = fractionDigits; i < NANO_DIGITS - shift; i++) {
            fraction *= 10;
        }
        if (shift == 0) {
            seconds = whole;
            nanos = (int) fraction;
        } else {
            seconds = whole / 1_000;
            nanos = (int) (whole % 1_000 * 1_000_000 + fraction);
        }
        return seconds <= SECONDS_MAX;
    }

    private boolean epochAny(byte[] bytes, int from, int to, int shift) {
        BigDecimal number = Decimals.parse(bytes, from, to);
        if (number == null) {
            return false;
        }
        if (number.signum() == 0) {
            seconds = 0;
            nanos = 0;
            return true;
        }
        BigDecimal shortest = number.stripTrailingZeros();
        if (shortest.scale() > NANO_DIGITS - shift || shortest.precision() - shortest.scale() - shift > 17) {
            return false;
        }
        BigDecimal exact = shortest.movePointLeft(shift);
        BigDecimal[] parts = {exact.setScale(0, java.math.RoundingMode.FLOOR), exact};
        seconds = parts[0].longValueExact();
        nanos = parts[1].subtract(parts[0]).movePointRight(NANO_DIGITS).intValueExact();
        return Math.abs(seconds) <= SECONDS_MAX;
    }

    /// `2019-10-27T22:20:18Z`, with a fraction or not, by hand; every other form through java.time.
    private boolean iso(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length < 20 || length > 40) {
            return length >= 17 && length <= 40 && isoAny(bytes, from, to);
        }
        boolean shaped = bytes[from + 4] == '-'
                && bytes[from + 7] == '-'
                && bytes[from + 10] == 'T'
                && bytes[from + 13] == ':'
                && bytes[from + 16] == ':'
                && bytes[to - 1] == 'Z';
        int year = shaped ? two(bytes, from) * 100 + two(bytes, from + 2) : -1;
        int month = shaped ? two(bytes, from + 5) : -1;
        int day = shaped ? two(bytes, from + 8) : -1;
        int hour = shaped ? two(bytes, from + 11) : -1;
        int minute = shaped ? two(bytes, from + 14) : -1;
        int second = shaped ? two(bytes, from + 17) : -1;
        if (year < 0
                || month < 1
                || month > 12
                || day < 1
                || day > 28
                || hour < 0
                || hour > 23
                || minute < 0
                || minute > 59
                || second < 0
                || second > 59) {
            return isoAny(bytes, from, to);
        }
        int fraction = 0;
        int digits = 0;
        int at = from + 19;
        if (bytes[at] == '.') {
            at++;
            while (at < to - 1 && digits < NANO_DIGITS && bytes[at] >= '0' && bytes[at] <= '9') {
                fraction = fraction * 10 + bytes[at++] - '0';
                digits++;
            }
        }
        if (at != to - 1) {
            return isoAny(bytes, from, to);
        }
        for (int i = digits; i < NANO_DIGITS; i++) {
            fraction *= 10;
        }
        seconds = days(year, month, day) * 86_400 + hour * 3_600L + minute * 60L + second;
        nanos = fraction;
        return true;
    }

    private boolean isoAny(byte[] bytes, int from, int to) {
        try {
            OffsetDateTime time = OffsetDateTime.parse(new String(bytes, from, to - from, StandardCharsets.UTF_8));
            seconds = time.toEpochSecond();
            nanos = time.getNano();
            return true;
        } catch (DateTimeException notIso) {
            return false;
        }
    }

    private static int two(byte[] bytes, int at) {
        int tens = bytes[at] - '0';
        int ones = bytes[at + 1] - '0';
        return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? NO_DIGITS : tens * 10 + ones;
    }

    /// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant, chrono-compatible low-level date
    /// algorithms).
    private static long days(int year, int month, int day) {
        int y = month <= 2 ? year - 1 : year;
        int era = Math.floorDiv(y, 400);
        int yearOfEra = y - era * 400;
        int dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return era * 146_097L + dayOfEra - 719_468;
    }
}
