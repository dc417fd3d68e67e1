package dev.onefold.core.grammar;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads whole numbers, and numbers of bytes.
final class Numbers {
    private static final Pattern INTEGER = Pattern.compile("0|[1-9][0-9]{0,8}");
    private static final Pattern BYTES = Pattern.compile("([1-9][0-9]{0,11}) ?(B|KB|MB|GB)?");

    private Numbers() {}

    /// A number in these bounds, both included.
    static int integer(Expression expression, int min, int max) {
        String text = expression.whole();
        if (!INTEGER.matcher(text).matches() || Integer.parseInt(text) < min || Integer.parseInt(text) > max) {
            throw expression.refuseFrom(0, "is not possible", "write an integer from " + min + " to " + max);
        }
        return Integer.parseInt(text);
    }

    /// A number of bytes in these bounds, both included.
    static long bytes(Expression expression, long min, long max) {
        Matcher matcher = BYTES.matcher(expression.whole());
        long bytes = matcher.matches() ? Long.parseLong(matcher.group(1)) * factor(matcher.group(2)) : -1;
        if (bytes < min || bytes > max) {
            throw expression.refuseFrom(0, "is not possible", "write bytes, like 200MB, from " + min + " to " + max);
        }
        return bytes;
    }

    private static long factor(String unit) {
        return switch (unit) {
            case "KB" -> 1_000;
            case "MB" -> 1_000_000;
            case "GB" -> 1_000_000_000;
            case null, default -> 1;
        };
    }
}
