package dev.onefold.core.event;

import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.LocalFold;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads instants: ISO-8601 with an offset or in a zone, epoch days or seconds, or a thousandth or less of
/// them, with a fraction of up to nanoseconds. The result is in `seconds` since 1970-01-01T00:00Z and `nanos`
/// within the second, 0 to 999,999,999. It is one idea: all forms that a
/// time may have. Not thread-safe.
final class Times {
    private static final long SECONDS_MAX = 31_556_889_864_403_199L; // java.time.Instant.MAX
    private static final long DAY_SECONDS = 86_400;
    private static final long DAYS_SECONDS_MAX = SECONDS_MAX - 2 * DAY_SECONDS; // In each zone.
    private static final long LIKELY_SECONDS_MIN = -2_208_988_800L; // 1900-01-01T00:00Z
    private static final long LIKELY_SECONDS_MAX = 7_258_118_400L; // 2200-01-01T00:00Z
    private static final long RECENT_SECONDS_MIN = 315_532_800L; // 1980-01-01T00:00Z
    private static final long DAYS_MIN = 10_000; // 1997 as days since 1970, 1927 as a spreadsheet counts them.
    private static final long DAYS_MAX = 99_999;
    private static final long DATES_MAX = 100_000_000; // As seconds in March 1973; 20240501 and 202405 are below.
    private static final int DATE_LENGTH = 10;
    private static final List<String> UTC = List.of(" UTC", " Z");
    private static final int NANO_DIGITS = 9;
    private static final int WHOLE_DIGITS = 19;
    private static final List<TimeType> FINER =
            List.of(TimeType.EPOCH_SECONDS, TimeType.EPOCH_MILLIS, TimeType.EPOCH_MICROS, TimeType.EPOCH_NANOS);
    private static final int NO_DIGITS = -1_000_000; // No year that it is a part of can come out positive.

    private static final long[] UNITS = {1, 0, 0, 1_000, 0, 0, 1_000_000, 0, 0, 1_000_000_000};

    long seconds;
    int nanos;
    /// Has the number that orders, of a type that orders equal times.
    final OrderedTimes ordered = new OrderedTimes();
    /// Whether it is a day without a zone, by its first instant in UTC.
    boolean isDayOfUtc;

    private final boolean loose;
    private final @Nullable ZoneId zone;
    private final @Nullable LocalFold fold;
    // Local times in [localFrom, localTo), in seconds as if they were of UTC, have this offset.
    private long localFrom;
    private long localTo;
    private int localOffset;
    private @Nullable ZoneOffsetTransition jump;
    private boolean isOfSchema;

    /// Reads as the editions before the third do.
    Times() {
        loose = false;
        zone = null;
        fold = null;
    }

    Times(Input input) {
        loose = input.readsBy(Edition.OF_VALUES);
        zone = input.spellings().zone();
        fold = input.spellings().fold();
    }

    /// Reads the instant of a field that is not missing; `null`, or the problem.
    @Nullable
    String read(Fields fields, int slot, Scalars scalars, TimeType type) {
        byte kind = fields.kind[slot];
        ConnectSchemas.Time schema = fields.times == null ? null : fields.times[slot];
        isOfSchema = schema != null && type == TimeType.AUTO;
        if (schema != null && schema.isPart()) {
            isOfSchema = false;
            if (type == TimeType.AUTO) {
                return "is derived from a time whose form is in the record's schema, " + schema.name()
                        + ". Take the time from the field itself, or write the type of the derived field";
            }
        } else if (schema != null && schema.type() != type) {
            if (!isOfSchema || schema.type() == null) {
                return "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                        + ", which the record's schema says to be " + schema.name()
                        + (schema.type() == null
                                ? ", and that is no point in time"
                                : ": write the type " + schema.type().word());
            }
            type = schema.type();
        }
        if (kind == Fields.NUMBER || kind == Fields.TEXT || kind == Fields.LOCAL_TEXT && type.isText()) {
            int to = fields.to[slot] - (schema != null && !schema.isPart() && hasNoZone(schema, fields, slot) ? 1 : 0);
            return read(fields.bytes, fields.from[slot], to, kind == Fields.NUMBER, type);
        }
        if (!scalars.isEscaped(fields, slot)) {
            return "is not a time";
        }
        String wrong = read(scalars.bytes, 0, scalars.textLength, false, type);
        return wrong == null ? null : scalars.asSent(wrong, fields, slot);
    }

    /// Whether a text ends with a `Z` that the database does not have.
    private boolean hasNoZone(ConnectSchemas.Time schema, Fields fields, int slot) {
        int length = fields.to[slot] - fields.from[slot];
        return schema.isLocal()
                && schema.type() == TimeType.ISO
                && (zone != null || length == DATE_LENGTH + 1)
                && fields.bytes[fields.to[slot] - 1] == 'Z';
    }

    /// Reads the instant at `[from, to)`; `null`, or the problem.
    @Nullable
    String read(byte[] bytes, int from, int to, boolean number, TimeType type) {
        jump = null;
        isDayOfUtc = type == TimeType.EPOCH_DAYS && zone == null;
        boolean good = switch (type) {
            case ISO -> !number && iso(bytes, from, to);
            case EPOCH_DAYS -> epoch(bytes, from, to, 0) && isDay();
            case EPOCH_SECONDS -> epoch(bytes, from, to, 0);
            case EPOCH_MILLIS -> epoch(bytes, from, to, 3);
            case EPOCH_MICROS -> epoch(bytes, from, to, 6);
            case EPOCH_NANOS -> epoch(bytes, from, to, 9);
            case HLC, UUID7, ULID -> ordered(bytes, from, to, type);
            case DMY, MDY -> !number && ofCalendar(CalendarTexts.read(bytes, from, to, type == TimeType.DMY));
            case AUTO -> number ? epoch(bytes, from, to, 0) : iso(bytes, from, to);
        };
        if (good && isOfSchema && zone != null && type != TimeType.ISO && type != TimeType.EPOCH_DAYS) {
            good = Math.abs(seconds) < DAYS_SECONDS_MAX && isInZone(seconds); // The database has it without a zone.
        }
        if (loose
                && type == TimeType.AUTO
                && (good == number)
                && epoch(bytes, from, to, 0)
                && seconds >= 0
                && seconds < DATES_MAX) {
            return "is " + Malformed.excerpt(bytes, from, to)
                    + ", which may be a date, a year or a count of days. If it is seconds, write the type "
                    + TimeType.EPOCH_SECONDS.word()
                    + (seconds < DAYS_MIN || seconds > DAYS_MAX
                            ? ""
                            : "; if it is days since 1970, " + TimeType.EPOCH_DAYS.word()
                                    + "; if it is a spreadsheet's day, docs/data.md has a formula");
        }
        if (good) {
            return null;
        }
        if (jump != null) {
            return "is " + Malformed.excerpt(bytes, from, to) + ", an hour that "
                    + (jump.isGap() ? "is left out" : "comes twice") + " in " + zone
                    + "; write 'fold: earlier' or 'fold: later' under input to take one of the two times";
        }
        boolean isText = !number && (type == TimeType.ISO || type == TimeType.AUTO);
        if (loose && zone == null && !number && isLocal(bytes, from, to, type)) {
            return "is " + Malformed.excerpt(bytes, from, to) + ", which does not say its zone; write it under input,"
                    + " such as 'zone: UTC', or 'zone: Europe/Berlin' if it is not a version";
        }
        return "is " + Malformed.excerpt(bytes, from, to) + ", which is not a time; wanted is " + wanted(type)
                + (type == TimeType.AUTO ? epochAdvice(bytes, from, to) : "")
                + (isText ? CalendarTexts.advice(bytes, from, to) : "")
                + OrderedTimes.advice(bytes, from, to)
                + (isText && !loose && isOfDatabase(strict(bytes, from, to))
                        ? ". In edition " + Edition.OF_VALUES + " it is a time: write under input 'edition: "
                                + Edition.OF_VALUES + "'"
                        : "");
    }

    private static String wanted(TimeType type) {
        return switch (type) {
            case ISO -> "ISO-8601 with an offset, such as 2026-11-21T09:30:00Z";
            case EPOCH_DAYS -> "whole days since 1970";
            case EPOCH_SECONDS -> "epoch seconds";
            case EPOCH_MILLIS -> "epoch milliseconds";
            case EPOCH_MICROS -> "epoch microseconds";
            case EPOCH_NANOS -> "epoch nanoseconds";
            case HLC -> "epoch nanoseconds with a counter of ten digits, such as 1714550400123456789.0000000001";
            case DMY -> "day, month and year, such as 31.12.2024, 31/12/2024 14:30 or 31-12-2024 14:30:59";
            case MDY -> "month, day and year, such as 12/31/2024, 12/31/2024 2:30 PM or 12-31-2024 14:30:59";
            case UUID7 -> "a UUID of version 7, such as 018f3a5c-9a00-7abc-8def-0123456789ab";
            case ULID -> "a ULID, such as 01HWX5S6G0ABCDEFGHJKMNPQRS";
            case AUTO -> "ISO-8601 text with an offset, or epoch seconds as a number";
        };
    }

    /// The reason why the time that was just read is unlikely for an event; `null` if it is in the years 1900
    /// to
    /// 2199. A time outside of them is nearly always a number in another unit.
    @Nullable
    String unlikely(TimeType type) {
        if (seconds >= LIKELY_SECONDS_MIN && seconds < LIKELY_SECONDS_MAX) {
            return null;
        }
        String read = "is read as the time " + Instant.ofEpochSecond(seconds) + "; taken are the years 1900 to 2199";
        if (type.isText() || type == TimeType.HLC) {
            return read;
        }
        long divided = type == TimeType.EPOCH_DAYS ? seconds / DAY_SECONDS * 1_000 : seconds;
        TimeType unit = type == TimeType.AUTO ? TimeType.EPOCH_SECONDS : type;
        for (TimeType finer : FINER.subList(FINER.indexOf(unit) + 1, FINER.size())) {
            divided /= 1_000;
            if (divided > RECENT_SECONDS_MIN && divided < LIKELY_SECONDS_MAX) {
                return read + ". As " + finer.word() + " it is " + Instant.ofEpochSecond(divided) + ": write the type "
                        + finer.word();
            }
        }
        return read;
    }

    /// The type of a number that is a time of recent years in its unit, as a sentence; empty if there is none.
    private String epochAdvice(byte[] bytes, int from, int to) {
        for (TimeType type : FINER) {
            int shift = 3 * FINER.indexOf(type);
            if (epoch(bytes, from, to, shift) && seconds > RECENT_SECONDS_MIN && seconds < LIKELY_SECONDS_MAX) {
                return ". Write the type " + type.word();
            }
        }
        return "";
    }

    /// Whether a text is a time without an offset.
    private static boolean isLocal(byte[] bytes, int from, int to, TimeType type) {
        return switch (type) {
            case DMY, MDY -> CalendarTexts.read(bytes, from, to, type == TimeType.DMY) != null;
            case ISO, AUTO -> localTime(strict(bytes, from, to)) != null;
            default -> false;
        };
    }

    private boolean ofCalendar(CalendarTexts.@Nullable Read read) {
        if (read == null || zone == null) {
            return false;
        }
        LocalTime time = read.time();
        if (time == null) {
            nanos = 0;
            return isDayInZone(read.date());
        }
        OffsetDateTime asOfUtc = read.date().atTime(time).atOffset(ZoneOffset.UTC);
        nanos = asOfUtc.getNano();
        return isInZone(asOfUtc.toEpochSecond());
    }

    private boolean ordered(byte[] bytes, int from, int to, TimeType type) {
        if (!ordered.read(bytes, from, to, type)) {
            return false;
        }
        seconds = ordered.seconds;
        nanos = ordered.nanos;
        return true;
    }

    /// Takes the number that was read as a count of days.
    private boolean isDay() {
        long day = seconds;
        if (nanos != 0 || Math.abs(day) >= DAYS_SECONDS_MAX / DAY_SECONDS) {
            return false;
        }
        seconds = day * DAY_SECONDS;
        return zone == null || isDayInZone(LocalDate.ofEpochDay(day));
    }

    private boolean epoch(byte[] bytes, int from, int to, int shift) {
        int at = from;
        boolean negative = at < to && bytes[at] == '-';
        if (negative) {
            at++;
        }
        long whole = 0;
        int first = at;
        while (at < to && at - first < WHOLE_DIGITS && bytes[at] >= '0' && bytes[at] <= '9') {
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
                return shift == NANO_DIGITS && epochAny(bytes, from, to, shift);
            }
        }
        if (at < to || negative || whole < 0) {
            return epochAny(bytes, from, to, shift);
        }
        for (int i = fractionDigits; i < NANO_DIGITS - shift; i++) {
            fraction *= 10;
        }
        if (shift == 0) {
            seconds = whole;
            nanos = (int) fraction;
        } else {
            long unit = UNITS[shift];
            seconds = whole / unit;
            nanos = (int) (whole % unit * (UNITS[NANO_DIGITS] / unit) + fraction);
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

    /// `2019-10-27T22:20:18Z`, with a fraction or not, or without `Z` in a zone, by hand; every other form
    /// through java.time.
    private boolean iso(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length < 19 || length > 40) {
            return length >= 10 && length <= 40 && isoAny(bytes, from, to);
        }
        boolean shaped = bytes[from + 4] == '-'
                && bytes[from + 7] == '-'
                && (bytes[from + 10] == 'T' || loose && bytes[from + 10] == ' ')
                && bytes[from + 13] == ':'
                && bytes[from + 16] == ':';
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
        if (at < to && bytes[at] == '.') {
            at++;
            while (at < to && digits < NANO_DIGITS && bytes[at] >= '0' && bytes[at] <= '9') {
                fraction = fraction * 10 + bytes[at++] - '0';
                digits++;
            }
        }
        boolean isLocal = at == to && zone != null && (digits > 0 || length == 19);
        if (!isLocal && (at != to - 1 || bytes[at] != 'Z')) {
            return isoAny(bytes, from, to);
        }
        for (int i = digits; i < NANO_DIGITS; i++) {
            fraction *= 10;
        }
        seconds = days(year, month, day) * DAY_SECONDS + hour * 3_600L + minute * 60L + second;
        nanos = fraction;
        return !isLocal || isInZone(seconds);
    }

    private boolean isoAny(byte[] bytes, int from, int to) {
        String text = loose ? strict(bytes, from, to) : new String(bytes, from, to - from, StandardCharsets.UTF_8);
        try {
            OffsetDateTime time = OffsetDateTime.parse(text);
            seconds = time.toEpochSecond();
            nanos = time.getNano();
            return true;
        } catch (DateTimeException notIso) {
            LocalDateTime local = zone == null ? null : localTime(text);
            if (local == null) {
                return false;
            }
            if (text.length() == DATE_LENGTH) {
                nanos = 0;
                return isDayInZone(local.toLocalDate());
            }
            OffsetDateTime asOfUtc = local.atOffset(ZoneOffset.UTC);
            nanos = asOfUtc.getNano();
            return isInZone(asOfUtc.toEpochSecond());
        }
    }

    /// The text in the form of ISO-8601: with `T` for a blank, and `+02:00` for `+02`, `+0200`, `+02:00` behind
    /// a blank, `UTC`, or `Z` behind a blank.
    private static String strict(byte[] bytes, int from, int to) {
        StringBuilder text = new StringBuilder(new String(bytes, from, to - from, StandardCharsets.UTF_8));
        if (text.length() > 10 && text.charAt(10) == ' ') {
            text.setCharAt(10, 'T');
        }
        for (String utc : UTC) {
            int zoneAt = text.length() - utc.length();
            if (zoneAt > 10 && text.indexOf(utc, zoneAt) == zoneAt) {
                return text.replace(zoneAt, text.length(), "Z").toString();
            }
        }
        int sign = Math.max(text.lastIndexOf("+"), text.lastIndexOf("-"));
        if (sign > 10) {
            int digits = text.length() - sign - 1;
            if (digits == 2) {
                text.append(":00");
            } else if (digits == 4) {
                text.insert(sign + 3, ':');
            }
            if (text.charAt(sign - 1) == ' ') {
                text.deleteCharAt(sign - 1);
            }
        }
        return text.toString();
    }

    /// A time or a date without a zone; `null` if the text is neither.
    private static @Nullable LocalDateTime localTime(String text) {
        try {
            return text.length() == DATE_LENGTH ? LocalDate.parse(text).atStartOfDay() : LocalDateTime.parse(text);
        } catch (DateTimeException notLocal) {
            return null;
        }
    }

    /// Whether a text is a time since [Edition#OF_VALUES], in the zone of the input or with one.
    private boolean isOfDatabase(String text) {
        try {
            return OffsetDateTime.parse(text) != null;
        } catch (DateTimeException notIso) {
            return zone != null && localTime(text) != null;
        }
    }

    /// Takes a local time, in seconds as if it were of UTC; false if the zone has it twice or never, and the
    /// file does not say what it means then.
    private boolean isInZone(long local) {
        if (local >= localFrom && local < localTo) {
            seconds = local - localOffset;
            return true;
        }
        ZoneRules rules = Objects.requireNonNull(zone).getRules();
        LocalDateTime time = LocalDateTime.ofEpochSecond(local, 0, ZoneOffset.UTC);
        ZoneOffsetTransition found = rules.getTransition(time);
        if (found != null) {
            jump = fold == null ? found : null;
            int before = found.getOffsetBefore().getTotalSeconds();
            int after = found.getOffsetAfter().getTotalSeconds();
            seconds = local - (fold == LocalFold.EARLIER ? Math.max(before, after) : Math.min(before, after));
            return fold != null;
        }
        localOffset = rules.getOffset(time).getTotalSeconds();
        seconds = local - localOffset;
        Instant instant = Instant.ofEpochSecond(seconds);
        ZoneOffsetTransition last = rules.previousTransition(instant.plusNanos(1)); // At this instant, too.
        ZoneOffsetTransition next = rules.nextTransition(instant);
        localFrom = last == null
                ? Long.MIN_VALUE
                : Math.max(local(last.getDateTimeBefore()), local(last.getDateTimeAfter()));
        localTo = next == null
                ? Long.MAX_VALUE
                : Math.min(local(next.getDateTimeBefore()), local(next.getDateTimeAfter()));
        return true;
    }

    /// Takes the first instant of a day, also where that is not midnight; false if the zone leaves the day out.
    private boolean isDayInZone(LocalDate day) {
        ZonedDateTime begin = day.atStartOfDay(Objects.requireNonNull(zone));
        boolean isThere = begin.toLocalDate().equals(day);
        jump = isThere || fold != null ? null : zone.getRules().getTransition(day.atStartOfDay());
        seconds = begin.toEpochSecond();
        return isThere || fold != null;
    }

    private static long local(LocalDateTime time) {
        return time.toEpochSecond(ZoneOffset.UTC);
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
