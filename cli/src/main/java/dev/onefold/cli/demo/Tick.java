package dev.onefold.cli.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// How far the process says that it is.
///
/// @param bytes of the input that are folded
/// @param records of it
/// @param nanos when it was heard
record Tick(long bytes, long records, long nanos) {
    private static final Pattern LINE = Pattern.compile("([0-9]{1,18}) [0-9]{1,18} ([0-9]{1,18})");

    /// The tick that a line is, if it is one.
    static @Nullable Tick parse(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.matches()
                ? new Tick(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)), System.nanoTime())
                : null;
    }
}
