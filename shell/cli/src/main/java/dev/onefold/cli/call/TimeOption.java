package dev.onefold.cli.call;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Times that are given as options.
public final class TimeOption {
    private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,6})(ms|s|m|h|d)");

    private TimeOption() {}

    /// The time that an option says, such as `500ms`, `2s` or `1d`.
    ///
    /// @throws CommandFailure naming the option if the text is not a time
    public static Duration of(String option, String text) {
        Matcher matcher = TIME.matcher(text);
        if (!matcher.matches()) {
            throw CommandFailure.usage(
                    option + " is a number with ms, s, m, h or d, such as 500ms; not '" + text + "'.");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "h" -> Duration.ofHours(number);
            case "d" -> Duration.ofDays(number);
            default -> Duration.ofMinutes(number);
        };
    }
}
