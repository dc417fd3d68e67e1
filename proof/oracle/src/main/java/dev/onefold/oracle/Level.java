package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalAdjusters;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One dimension of a roll-up.
///
/// @param function `text`, `prefix`, `step`, `bucket`, or a part of the calendar
/// @param size seconds of a bucket, characters of a prefix, the step
/// @param timeType how a bucket's time is written
/// @param zone of a part of the calendar; null: that of the input
/// @param missing what stands in for a missing value; null refuses the record
record Level(
        List<String> path,
        String function,
        BigDecimal size,
        String timeType,
        @Nullable String zone,
        @Nullable String missing) {
    private static final Set<String> UNITS =
            Set.of("week", "week-from-sunday", "week-from-saturday", "month", "quarter", "year");
    private static final Set<String> TYPES = Set.of("auto", "iso", "hlc", "uuid7", "ulid", "dmy", "mdy");
    private static final int STEP_DIGITS_MAX = 100;
    private static final int STEP_DECIMALS_MAX = 1_000;
    private static final Map<String, Integer> SECONDS = Map.of("s", 1, "m", 60, "h", 3_600, "d", 86_400);

    /// Reads `region missing "unknown"`, or the longer form with a field, a name and a default.
    static Level parse(Object setting) {
        if (setting instanceof Map<?, ?> longer) {
            Level level = parse(String.valueOf(longer.get("field")));
            Object missing = longer.get("missing");
            return missing == null ? level : level.withMissing(String.valueOf(missing));
        }
        Scan scan = new Scan(String.valueOf(setting));
        Level level = function(scan);
        if (scan.takeWord("missing")) {
            level = level.withMissing(scan.quoted());
        }
        scan.expectEnd();
        return level;
    }

    private static Level function(Scan scan) {
        Level level;
        if (scan.takeFunction("bucket")) {
            List<String> path = scan.path();
            scan.expect(",");
            String span = scan.word();
            String type = scan.take(",") ? scan.word() : "auto";
            boolean isZone = !type.startsWith("epoch") && !TYPES.contains(type);
            String zone = isZone ? type : scan.take(",") ? scan.word() : null;
            BigDecimal size = UNITS.contains(span) ? BigDecimal.ZERO : duration(span);
            String unit = size.compareTo(duration("1d")) == 0 ? "day" : size.signum() == 0 ? span : "bucket";
            level = new Level(path, unit, size, isZone ? "auto" : type, zone, null);
        } else if (scan.takeFunction("prefix")) {
            List<String> path = scan.path();
            scan.expect(",");
            level = new Level(path, "prefix", scan.number(), "", null, null);
        } else if (scan.takeFunction("step")) {
            List<String> path = scan.path();
            scan.expect(",");
            level = new Level(path, "step", scan.number(), "", null, null);
        } else {
            return new Level(scan.path(), "text", BigDecimal.ZERO, "", null, null);
        }
        scan.expect(")");
        return level;
    }

    /// Seconds of a duration such as `7d`.
    static BigDecimal duration(String text) {
        Integer unit = SECONDS.get(text.substring(text.length() - 1));
        if (unit == null) {
            throw new IllegalArgumentException(text + " is no duration such as 7d.");
        }
        return new BigDecimal(text.substring(0, text.length() - 1)).multiply(BigDecimal.valueOf(unit));
    }

    private Level withMissing(String text) {
        return new Level(path, function, size, timeType, zone, text);
    }

    /// The group that a record belongs to.
    String group(Document document) {
        Object value = document.at(path);
        if (value == null) {
            if (missing == null) {
                throw new Refused("the level " + path + " is missing");
            }
            return missing;
        }
        return switch (function) {
            case "bucket" -> bucket(document, value);
            case "day", "week", "week-from-sunday", "week-from-saturday", "month", "quarter", "year" ->
                calendar(document, value);
            case "step" -> step(value);
            case "prefix" -> prefix(text(document, value));
            default -> text(document, value);
        };
    }

    private String bucket(Document document, Object value) {
        BigDecimal time = document.time(value, timeType);
        if (time == null) {
            throw new AssertionError("A value that is there has a time, or is refused.");
        }
        return bucket(Values.likely(time));
    }

    private String bucket(BigDecimal seconds) {
        return Instant.ofEpochSecond(Values.floor(seconds, size).longValueExact())
                .toString();
    }

    /// The text of the time bucket that holds a time, in seconds.
    String bucketOf(BigDecimal seconds, @Nullable ZoneId inputZone) {
        return function.equals("bucket") ? bucket(seconds) : calendar(seconds, inputZone);
    }

    private String calendar(Document document, Object value) {
        BigDecimal time = Objects.requireNonNull(document.time(value, timeType));
        if (zone != null
                && timeType.equals("epoch-days")
                && document.spellings().zone() == null) {
            throw new Refused("a day without a zone");
        }
        return calendar(Values.likely(time), document.spellings().zone());
    }

    private String calendar(BigDecimal time, @Nullable ZoneId inputZone) {
        ZoneId of = zone == null ? inputZone : ZoneId.of(zone);
        long seconds = time.setScale(0, RoundingMode.FLOOR).longValueExact();
        LocalDate date = Instant.ofEpochSecond(seconds)
                .atZone(of == null ? ZoneOffset.UTC : of)
                .toLocalDate();
        LocalDate first = switch (function) {
            case "week" -> date.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
            case "week-from-sunday" -> date.minusDays(date.getDayOfWeek().getValue() % 7);
            case "week-from-saturday" -> date.minusDays((date.getDayOfWeek().getValue() + 1) % 7);
            case "month" -> date.with(TemporalAdjusters.firstDayOfMonth());
            case "quarter" -> date.with(IsoFields.DAY_OF_QUARTER, 1);
            case "year" -> date.with(TemporalAdjusters.firstDayOfYear());
            default -> date;
        };
        return of == null ? first + "T00:00:00Z" : first.toString();
    }

    private String step(Object value) {
        BigDecimal number = Values.decimal(value);
        if (number == null) {
            throw new AssertionError("A value that is there has a number, or is refused.");
        }
        boolean tooLong = Math.abs((long) number.precision() - number.scale()) > STEP_DIGITS_MAX
                || number.scale() > STEP_DECIMALS_MAX;
        if (number.signum() != 0 && tooLong) {
            throw new Refused("a number of more than 100 digits where a step is wanted");
        }
        return Values.plain(Values.floor(number, size));
    }

    private String prefix(String text) {
        int length = Math.min(size.intValueExact(), text.codePointCount(0, text.length()));
        return text.substring(0, text.offsetByCodePoints(0, length));
    }

    private static String text(Document document, Object value) {
        String text = document.text(value);
        if (text == null) {
            throw new AssertionError("A value that is there has a text, or is refused.");
        }
        return text;
    }
}
