package dev.onefold.core.event;

import dev.onefold.core.pipeline.Input.Format;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Numbers of CSV that are not written with a decimal point and without thousands separators, such as
/// `1.234,50`.
final class LocalNumbers {
    private static final int GROUP_DIGITS = 3;

    /// Groups between characters that look like a space or like `'`.
    private static final Pattern LOOKALIKE =
            Pattern.compile("-?[0-9]{1,3}([\u00a0\u202f\u2019])([0-9]{3}\\1)*[0-9]{3}([.,][0-9]+)?");

    private static final List<String> LOOKALIKES = List.of("\u00a0", "\u202f", "\u2019");

    private final byte decimal;
    private final byte[] thousands; // In UTF-8; empty if there is none.

    private LocalNumbers(byte decimal, byte[] thousands) {
        this.decimal = decimal;
        this.thousands = thousands;
    }

    /// `null` if numbers are written as everywhere else.
    static @Nullable LocalNumbers of(Format.Csv format) {
        return format.decimal() == Format.Csv.POINT && format.thousands() == Format.Csv.NO_THOUSANDS
                ? null
                : new LocalNumbers((byte) format.decimal(), thousands(format.thousands()));
    }

    private static byte[] thousands(char separator) {
        return separator == Format.Csv.NO_THOUSANDS
                ? new byte[0]
                : String.valueOf(separator).getBytes(StandardCharsets.UTF_8);
    }

    private boolean isThousands(byte[] text, int at, int to) {
        int length = thousands.length;
        return length > 0
                && text[at] == thousands[0]
                && to - at >= length
                && Arrays.equals(text, at, at + length, thousands, 0, length);
    }

    /// Whether a text has separators, and otherwise only characters of numbers.
    boolean may(byte[] text, int from, int to) {
        boolean hasSeparator = false;
        for (int at = from; at < to; at++) {
            byte one = text[at];
            boolean isGroup = isThousands(text, at, to);
            boolean isSeparator = one == decimal || isGroup || one == '.';
            at += isGroup ? thousands.length - 1 : 0;
            if (!isSeparator && !isDigit(one) && one != '-' && one != '+' && (one | 0x20) != 'e') {
                return false;
            }
            hasSeparator |= isSeparator;
        }
        return hasSeparator;
    }

    /// Writes a number as it is written everywhere else. Of a text that is not a number here it writes one that
    /// is no number anywhere.
    ///
    /// @param out with room for one byte more than the text has
    /// @return the length
    int plain(byte[] text, int from, int to, byte[] out) {
        int length = 0;
        int at = from;
        if (at < to && text[at] == '-') {
            out[length++] = text[at++];
        }
        int digits = 0;
        boolean isGrouped = false;
        boolean good = true;
        boolean hasZero = at < to && text[at] == '0'; // No first group of thousands begins with it.
        for (; at < to && (isDigit(text[at]) || isThousands(text, at, to)); at++) {
            if (isDigit(text[at])) {
                out[length++] = text[at];
                digits++;
            } else {
                good &= isGrouped ? digits == GROUP_DIGITS : digits >= 1 && digits <= GROUP_DIGITS && !hasZero;
                isGrouped = true;
                digits = 0;
                at += thousands.length - 1;
            }
        }
        good &= isGrouped ? digits == GROUP_DIGITS : digits > 0;
        if (at < to && text[at] == decimal) {
            out[length++] = '.';
            at++;
            good &= at < to && isDigit(text[at]);
        }
        for (; at < to; at++) {
            good &= text[at] != '.' && text[at] != decimal && !isThousands(text, at, to);
            out[length++] = text[at];
        }
        if (good) {
            return length;
        }
        System.arraycopy(text, from, out, 0, to - from);
        out[to - from] = ' ';
        return to - from + 1;
    }

    /// A number that is written as everywhere else, as it is written here.
    String text(String plain) {
        return plain.replace('.', (char) decimal);
    }

    private static boolean isDigit(byte one) {
        return one >= '0' && one <= '9';
    }

    /// The settings by which a text of CSV is a number; empty if no setting makes it one.
    ///
    /// @param set how numbers are written by the pipeline; `null` if it says nothing
    static String advice(@Nullable LocalNumbers set, byte[] bytes, int from, int to) {
        String text = new String(bytes, from, to - from, StandardCharsets.UTF_8);
        Matcher lookalike = LOOKALIKE.matcher(text);
        String settings = "";
        if (lookalike.matches()
                && set != null
                && LOOKALIKES.contains(new String(set.thousands, StandardCharsets.UTF_8))) {
            return ". The file has two characters between groups of digits; bring them to one by a derived field, such"
                    + " as let: {amount: 'replace(AMOUNT, \"" + lookalike.group(1) + "\", \""
                    + new String(set.thousands, StandardCharsets.UTF_8) + "\")'}";
        }
        if (lookalike.matches()) {
            boolean hasComma = text.indexOf(',') >= 0 && (set == null || set.decimal != ',');
            settings = (hasComma ? "decimal: \",\" and " : "")
                    + "thousands: \"\\u%04x\""
                            .formatted((int) lookalike.group(1).charAt(0));
        } else if (set == null) {
            settings = advice(text);
        } else if (set.thousands.length == 0) {
            settings = text.matches("-?[0-9]{1,3}([.,'_ ])([0-9]{3}\\1)*[0-9]{3}([.,][0-9]+)?")
                    ? "thousands: \"" + text.replaceAll("^-?[0-9]+(.).*", "$1") + "\""
                    : "";
        }
        return settings.isEmpty() ? "" : ". Write " + settings + " under input";
    }

    private static String advice(String text) {
        if (text.matches("-?[0-9]{1,3}(\\.[0-9]{3})+,[0-9]+|-?[0-9]{1,3}(\\.[0-9]{3}){2,}")) {
            return "decimal: \",\" and thousands: \".\"";
        }
        if (text.matches("-?[0-9]+,[0-9]+")) {
            boolean isEither = text.matches("-?[0-9]{1,3},[0-9]{3}");
            return "decimal: \",\"" + (isEither ? " or thousands: \",\"" : "");
        }
        return text.matches("-?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]+)?") ? "thousands: \",\"" : "";
    }
}
