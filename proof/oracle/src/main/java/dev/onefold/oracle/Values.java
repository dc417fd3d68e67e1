package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What a value of a record is as text, as a number and as a time. A missing value (null) is missing as each of
/// them.
final class Values {
    // Leading zeros are for texts: as a JSON number they are refused before.
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE]([+-]?[0-9]+))?");
    // Sequence numbers of streams are texts with leading zeros.
    private static final Pattern INTEGER = Pattern.compile("-?[0-9]+");
    private static final Pattern CALENDAR = Pattern.compile("([0-9]{1,2})([./-])([0-9]{1,2})\\2([0-9]{4})"
            + "(?:,? ([0-9]{1,2})(:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,9})?)?)(?: ?([AaPp])[Mm])?)?");
    private static final Pattern ISO = Pattern.compile("([0-9]{4}-[0-9]{2}-[0-9]{2})"
            + "(?:[T ]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?)( ?Z| UTC| ?[+-][0-9]{2}(?::?[0-9]{2})?)?)?");

    /// Farther from the point than any number that counts, so that it can stand for all beyond.
    private static final int EXPONENT_MAX = 100_000;

    private static final int TEXT_DIGITS_MAX = 1_000;
    private static final int NANOSECOND_DIGITS = 9;
    private static final int VALUE_DIGITS_MAX = 28;
    private static final int VERSION_DIGITS_MAX = 64;
    private static final long DAYS_MAX = 365_000_000_000L;
    private static final long YEAR_1900 = -2_208_988_800L;
    private static final long YEAR_2200 = 7_258_118_400L;

    private Values() {}

    static @Nullable String text(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String text -> text;
            case Boolean flag -> flag.toString();
            case Document.Literal literal -> digits(number(literal.digits()));
            default -> throw new Refused("an object or an array where a text is wanted");
        };
    }

    /// The text of an integer, whatever its spelling.
    static String integer(String text) {
        String plain = digits(number(text));
        if (plain.contains(".")) {
            throw new Refused("no integer: " + text);
        }
        return plain;
    }

    /// Whether a text is a number as JSON writes it, and the text of that number is another one.
    static boolean isUnusualNumber(String text) {
        return NUMBER.matcher(text).matches()
                && !text.matches("-?0[0-9].*")
                && !plain(number(text)).equals(text);
    }

    private static String digits(BigDecimal number) {
        if (Math.abs(number.scale()) > TEXT_DIGITS_MAX) {
            throw new Refused("a number of more than 1,000 digits where a text is wanted");
        }
        return plain(number);
    }

    static String plain(BigDecimal number) {
        return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
    }

    static @Nullable BigDecimal decimal(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String text -> number(text);
            case Document.Literal literal -> number(literal.digits());
            default -> throw new Refused("no number");
        };
    }

    private static BigDecimal number(String text) {
        Matcher parts = NUMBER.matcher(text);
        if (!parts.matches()) {
            throw new Refused("no number: " + text);
        }
        String exponent = parts.group(3);
        BigDecimal mantissa = new BigDecimal(exponent == null ? text : text.substring(0, parts.start(2)));
        if (exponent == null || mantissa.signum() == 0) {
            return mantissa;
        }
        BigInteger limit = BigInteger.valueOf(EXPONENT_MAX);
        return mantissa.scaleByPowerOfTen(
                new BigInteger(exponent).min(limit).max(limit.negate()).intValueExact());
    }

    /// A number that a measure of this precision and scale may take.
    static BigDecimal measured(BigDecimal number, int precision, int scale) {
        if (number.signum() == 0) {
            return BigDecimal.ZERO;
        }
        BigDecimal stripped = number.stripTrailingZeros();
        int digitsBefore = Math.max(0, stripped.precision() - stripped.scale());
        if (stripped.scale() > scale) {
            throw new Refused("more than " + scale + " decimals");
        }
        if (digitsBefore > precision - scale || digitsBefore + scale > VALUE_DIGITS_MAX) {
            throw new Refused("too many digits");
        }
        return stripped;
    }

    static @Nullable BigDecimal version(@Nullable Object value) {
        String digits = switch (value) {
            case null -> null;
            case String text -> text;
            case Document.Literal literal -> literal.digits();
            default -> throw new Refused("no version");
        };
        if (digits == null) {
            return null;
        }
        BigDecimal number = INTEGER.matcher(digits).matches() ? new BigDecimal(digits) : number(digits);
        if (number.signum() == 0) {
            return BigDecimal.ZERO;
        }
        if (number.stripTrailingZeros().scale() > 0) {
            throw new Refused("no integer: " + digits);
        }
        if (number.precision() - (long) number.scale() > VERSION_DIGITS_MAX) {
            throw new Refused("a version of more than " + VERSION_DIGITS_MAX + " digits");
        }
        return number;
    }

    /// Seconds since 1970-01-01T00:00Z, exactly.
    static @Nullable BigDecimal time(@Nullable Object value, String type, Document.Spellings spellings) {
        if (value == null) {
            return null;
        }
        BigDecimal seconds = switch (type) {
            case "iso" -> iso(value, spellings);
            case "epoch-days" -> days(value, spellings);
            case "epoch-seconds" -> epoch(value, 0);
            case "epoch-millis" -> epoch(value, 3);
            case "epoch-micros" -> epoch(value, 6);
            case "epoch-nanos" -> epoch(value, 9);
            case "hlc" -> clock(value)[0];
            case "dmy", "mdy" -> ofCalendar(value, type, spellings);
            case "uuid7", "ulid" ->
                BigDecimal.valueOf(id(value, type).shiftRight(80).longValueExact(), 3);
            case "auto" -> value instanceof String ? iso(value, spellings) : noDate(epoch(value, 0));
            default -> throw new IllegalArgumentException("There is no type of time " + type + ".");
        };
        if (seconds.abs().compareTo(BigDecimal.valueOf(Instant.MAX.getEpochSecond())) > 0) {
            throw new Refused("a time beyond a thousand million years");
        }
        return seconds;
    }

    /// Refuses a number that may be a date, or a count of days.
    private static BigDecimal noDate(BigDecimal seconds) {
        if (seconds.signum() >= 0 && seconds.compareTo(BigDecimal.valueOf(100_000_000)) < 0) {
            throw new Refused("a number that may be a date");
        }
        return seconds;
    }

    /// Refuses a time that no event has, because its number is in another unit.
    static BigDecimal likely(BigDecimal seconds) {
        boolean likely = seconds.compareTo(BigDecimal.valueOf(YEAR_1900)) >= 0
                && seconds.compareTo(BigDecimal.valueOf(YEAR_2200)) < 0;
        if (!likely) {
            throw new Refused("a time outside of the years 1900 to 2199");
        }
        return seconds;
    }

    private static BigDecimal days(Object value, Document.Spellings spellings) {
        BigDecimal days = decimal(value);
        if (days == null
                || days.stripTrailingZeros().scale() > 0
                || days.abs().compareTo(BigDecimal.valueOf(DAYS_MAX)) > 0) {
            throw new Refused("no count of days");
        }
        LocalDate date = LocalDate.ofEpochDay(days.longValueExact());
        return BigDecimal.valueOf(date.atStartOfDay(spellings.zone() == null ? ZoneOffset.UTC : spellings.zone())
                .toEpochSecond());
    }

    private static BigDecimal epoch(Object value, int shift) {
        BigDecimal number = decimal(value);
        if (number == null || number.stripTrailingZeros().scale() > NANOSECOND_DIGITS - shift) {
            throw new Refused("a time finer than nanoseconds");
        }
        return number.movePointLeft(shift);
    }

    /// Seconds, and the counter behind the point of nanoseconds, of ten digits.
    static BigDecimal[] clock(Object value) {
        String digits = value instanceof Document.Literal literal ? literal.digits() : String.valueOf(value);
        if (!digits.matches("[0-9]{19}[.][0-9]{10}")) {
            throw new Refused("no nanoseconds with a counter: " + value);
        }
        String[] parts = digits.split("[.]", 2);
        return new BigDecimal[] {new BigDecimal(parts[0]).movePointLeft(9), new BigDecimal(parts[1])};
    }

    /// The text of a spreadsheet as one of ISO-8601, in the zone of the input.
    private static BigDecimal ofCalendar(Object value, String type, Document.Spellings spellings) {
        Matcher parts = CALENDAR.matcher(value instanceof String text ? text : "");
        if (!parts.matches() || spellings.zone() == null) {
            throw new Refused("no date in a zone: " + value);
        }
        boolean isDayFirst = type.equals("dmy");
        String date = parts.group(4) + "-" + twoDigits(parts.group(isDayFirst ? 3 : 1)) + "-"
                + twoDigits(parts.group(isDayFirst ? 1 : 3));
        if (parts.group(5) == null) {
            return iso(date, spellings);
        }
        int hour = Integer.parseInt(parts.group(5));
        String half = parts.group(7) == null ? "" : parts.group(7).toLowerCase(Locale.ROOT);
        if (!half.isEmpty() && (hour < 1 || hour > 12)) {
            throw new Refused("no hour of half a day");
        }
        hour = half.isEmpty() ? hour : hour % 12 + (half.equals("p") ? 12 : 0);
        String minutes = parts.group(6) + (parts.group(6).length() == ":30".length() ? ":00" : "");
        return iso(date + "T" + twoDigits(String.valueOf(hour)) + minutes, spellings);
    }

    private static String twoDigits(String digits) {
        return digits.length() == 1 ? "0" + digits : digits;
    }

    /// What orders versions of a type: the time, or a number that it is a part of.
    static BigDecimal order(Object value, String type, BigDecimal time) {
        return switch (type) {
            case "hlc" -> time.movePointRight(19).add(clock(value)[1]);
            case "uuid7", "ulid" -> new BigDecimal(id(value, type));
            default -> time;
        };
    }

    /// The 128 bits of an id that begins with its milliseconds.
    private static BigInteger id(Object value, String type) {
        String text = value instanceof String found ? found : "";
        if (type.equals("uuid7")) {
            boolean isUuid = text.matches("(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
            UUID id = isUuid ? UUID.fromString(text) : new UUID(0, 0);
            if (id.version() != 7 || id.variant() != 2) {
                throw new Refused("no UUID of version 7: " + value);
            }
            return new BigInteger(text.replace("-", ""), 16);
        }
        if (!text.matches("(?i)[0-7][0-9a-hjkmnp-tv-z]{25}")) {
            throw new Refused("no ULID: " + value);
        }
        StringBuilder digits = new StringBuilder();
        text.toLowerCase(Locale.ROOT)
                .chars()
                .forEach(c -> digits.append(Character.forDigit("0123456789abcdefghjkmnpqrstvwxyz".indexOf(c), 32)));
        return new BigInteger(digits.toString(), 32);
    }

    private static BigDecimal iso(Object value, Document.Spellings spellings) {
        Matcher parts = ISO.matcher(value instanceof String text ? text : "");
        if (!parts.matches()) {
            throw new Refused("no ISO-8601 time: " + value);
        }
        try {
            LocalDate date = LocalDate.parse(parts.group(1));
            LocalDateTime time =
                    date.atTime(parts.group(2) == null ? LocalTime.MIDNIGHT : LocalTime.parse(parts.group(2)));
            String offset = parts.group(3) == null ? "" : parts.group(3).strip().replace("UTC", "Z");
            boolean isDay = parts.group(2) == null && offset.isEmpty() && spellings.zone() != null;
            long seconds = isDay
                    ? date.atStartOfDay(spellings.zone()).toEpochSecond()
                    : offset.isEmpty() ? local(time, spellings) : time.toEpochSecond(ZoneOffset.of(offset));
            return BigDecimal.valueOf(seconds)
                    .add(BigDecimal.valueOf(time.atOffset(ZoneOffset.UTC).getNano(), 9));
        } catch (DateTimeException impossible) {
            throw new Refused("no time: " + value);
        }
    }

    private static long local(LocalDateTime time, Document.Spellings spellings) {
        if (spellings.zone() == null) {
            throw new Refused("a time without a zone");
        }
        ZoneRules rules = spellings.zone().getRules();
        List<ZoneOffset> offsets = rules.getValidOffsets(time);
        if (offsets.size() == 1) {
            return time.toEpochSecond(offsets.getFirst());
        }
        if (spellings.fold() == null) {
            throw new Refused("a time that comes twice, or never");
        }
        long before = time.toEpochSecond(rules.getTransition(time).getOffsetBefore());
        long after = time.toEpochSecond(rules.getTransition(time).getOffsetAfter());
        return spellings.fold().equals("earlier") ? Math.min(before, after) : Math.max(before, after);
    }

    /// The greatest multiple of the step that is not above the number.
    static BigDecimal floor(BigDecimal number, BigDecimal step) {
        return number.divide(step, 0, RoundingMode.FLOOR).multiply(step);
    }

    static int utf8Bytes(List<String> texts) {
        return texts.stream()
                .mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length)
                .sum();
    }
}
