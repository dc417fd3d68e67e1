package dev.onefold.cli.show;

import dev.onefold.core.document.Problem;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.json.JsonRecord;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Values as a person reads them.
public final class Words {
    /// Stands where there is no value.
    public static final String NONE = "-";

    private static final int BROKEN_WIDTH_MIN = 10;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd HH:mm:ss.SSS 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private Words() {}

    /// `too large`: the form of a reason everywhere, in JSON as in a table.
    public static String of(Enum<?> constant) {
        return JsonRecord.word(constant);
    }

    /// `1,234,567`.
    public static String count(long number) {
        return number(BigDecimal.valueOf(number));
    }

    /// `1,234,567 records`, `1 record`.
    public static String count(long number, String noun) {
        return count(number) + " " + noun + (number == 1 ? "" : "s");
    }

    /// All digits at the scale it has, with thousands separators; `-` for none.
    public static String number(@Nullable BigDecimal number) {
        if (number == null) {
            return NONE;
        }
        String digits = number.toPlainString();
        int from = digits.startsWith("-") ? 1 : 0;
        int point = digits.indexOf('.');
        int to = point < 0 ? digits.length() : point;
        StringBuilder text = new StringBuilder(digits.length() + (to - from) / 3).append(digits, 0, from);
        for (int i = from; i < to; i++) {
            if (i > from && (to - i) % 3 == 0) {
                text.append(',');
            }
            text.append(digits.charAt(i));
        }
        return text.append(digits, to, digits.length()).toString();
    }

    /// A line of a summary: a name, and its count at the right.
    public static String line(String name, long number) {
        String count = count(number);
        return "  " + name + " ".repeat(Math.max(1, 26 - name.length() - count.length())) + count + "\n";
    }

    /// With its sign, also when positive.
    public static String difference(BigDecimal number) {
        return (number.signum() > 0 ? "+" : "") + number(number);
    }

    /// `999 bytes`, `362.0 MB`.
    public static String bytes(long bytes) {
        if (bytes < 1_000) {
            return count(bytes, "byte");
        }
        if (bytes < 1_000_000) {
            return scaled(bytes, 1_000, "kB");
        }
        return bytes < 1_000_000_000 ? scaled(bytes, 1_000_000, "MB") : scaled(bytes, 1_000_000_000, "GB");
    }

    private static String scaled(long bytes, long unit, String name) {
        return String.format(Locale.ROOT, "%.1f %s", (double) bytes / unit, name);
    }

    /// `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
    public static String duration(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 10) {
            return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1e3);
        }
        if (seconds < 60) {
            return seconds + " s";
        }
        return seconds < 3_600
                ? String.format(Locale.ROOT, "%d min %02d s", seconds / 60, seconds % 60)
                : String.format(Locale.ROOT, "%d h %02d min", seconds / 3_600, seconds / 60 % 60);
    }

    /// How many a second.
    public static String rate(long number, Duration duration) {
        return count(Math.round(number / Math.max(duration.toNanos() / 1e9, 1e-3))) + "/s";
    }

    /// To the millisecond, in UTC.
    public static String time(Instant time) {
        return TIME.format(time);
    }

    /// A text from outside without anything that a terminal would obey or hide; whole.
    public static String visible(String text) {
        return Problem.visible(text, Integer.MAX_VALUE);
    }

    /// The text broken between words into lines of at most so many columns, where its words allow it.
    public static String wrap(String text, int width) {
        return wrap(text, "  ", width, 0);
    }

    /// The same, with every line indented.
    public static String indented(String text, String indent, int width) {
        return indent + wrap(text, indent, width, indent.length());
    }

    /// The same; a word that is longer than a line is broken, too.
    public static String broken(String text, String indent, int width) {
        int room = Math.max(BROKEN_WIDTH_MIN, width - indent.length());
        return indented(
                Arrays.stream(text.split(" ", -1))
                        .map(word -> parts(word, room))
                        .collect(Collectors.joining(" ")),
                indent,
                width);
    }

    private static String parts(String word, int room) {
        StringBuilder parts = new StringBuilder();
        int column = 0;
        for (int i = 0; i < word.length(); i += Character.charCount(word.codePointAt(i))) {
            String character = Character.toString(word.codePointAt(i));
            if (column + Width.of(character) > room) {
                parts.append(' ');
                column = 0;
            }
            parts.append(character);
            column += Width.of(character);
        }
        return parts.toString();
    }

    private static String wrap(String text, String indent, int width, int from) {
        StringBuilder wrapped = new StringBuilder();
        int column = from;
        String separator = "";
        for (String word : text.split(" ", -1)) {
            int length = Width.of(word);
            if (!separator.isEmpty() && column + 1 + length > width) {
                wrapped.append('\n').append(indent);
                column = indent.length();
                separator = "";
            }
            wrapped.append(separator).append(word);
            column += separator.length() + length;
            separator = " ";
        }
        return wrapped.toString();
    }

    /// A group as [GroupPath] writes it, for the eye.
    public static String path(List<String> group) {
        return group.isEmpty() ? "total" : group(GroupPath.write(group));
    }

    /// The value of a level; quotes stand for an empty one.
    public static String group(String value) {
        return value.isEmpty() ? "\"\"" : visible(value);
    }
}
