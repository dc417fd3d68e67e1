package dev.onefold.core.event;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads dates and times as spreadsheets write them: day and month, in either order, and a year of four digits.
/// Thread-safe.
final class CalendarTexts {
    private static final int LENGTH_MAX = 40;
    private static final int HALF_DAY = 12;
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,2})([./-])([0-9]{1,2})\\2([0-9]{4})"
            + "(?:,? ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\\.([0-9]{1,9}))?)?(?: ?([AaPp])[Mm])?)?");

    private CalendarTexts() {}

    /// A date, perhaps with a time.
    record Read(LocalDate date, @Nullable LocalTime time) {}

    /// The text as a date; `null` if it is none.
    static @Nullable Read read(byte[] bytes, int from, int to, boolean isDayFirst) {
        String text = to - from > LENGTH_MAX ? "" : new String(bytes, from, to - from, StandardCharsets.UTF_8);
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            return null;
        }
        try {
            int first = Integer.parseInt(parts.group(1));
            int second = Integer.parseInt(parts.group(3));
            LocalDate date = LocalDate.of(
                    Integer.parseInt(parts.group(4)), isDayFirst ? second : first, isDayFirst ? first : second);
            return new Read(date, parts.group(5) == null ? null : time(parts));
        } catch (DateTimeException notThere) {
            return null;
        }
    }

    private static LocalTime time(Matcher parts) {
        int hour = Integer.parseInt(parts.group(5));
        if (parts.group(9) != null) {
            if (hour == 0 || hour > HALF_DAY) {
                throw new DateTimeException("There is no such hour before or after noon");
            }
            hour = hour % HALF_DAY + (parts.group(9).equalsIgnoreCase("p") ? HALF_DAY : 0);
        }
        String fraction = parts.group(8) == null ? "" : parts.group(8);
        return LocalTime.of(
                hour,
                Integer.parseInt(parts.group(6)),
                parts.group(7) == null ? 0 : Integer.parseInt(parts.group(7)),
                Integer.parseInt((fraction + "000000000").substring(0, 9)));
    }

    /// Advice for a text that is such a date, as a part of a sentence; empty if it is none.
    static String advice(byte[] bytes, int from, int to) {
        boolean isDayFirst = read(bytes, from, to, true) != null;
        boolean isMonthFirst = read(bytes, from, to, false) != null;
        return isDayFirst && isMonthFirst
                ? ". Write the type dmy if the day comes first, or mdy if the month does"
                : isDayFirst ? ". Write the type dmy" : isMonthFirst ? ". Write the type mdy" : "";
    }
}
