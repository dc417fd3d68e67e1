package dev.onefold.cli.call;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Where a command that runs for long writes what the parts of Onefold log; nowhere by default. It is one place for the
/// process, as loggers are. Any thread may call.
public final class Logs {
    private static final int CAUSES_MAX = 5;

    private static volatile @Nullable Consumer<String> sink;

    private Logs() {}

    /// Writes warnings and errors there from now on.
    public static void to(Consumer<String> written) {
        sink = written;
    }

    /// Writes nothing from now on.
    public static void off() {
        sink = null;
    }

    /// Whether somebody reads it.
    public static boolean isOn() {
        return sink != null;
    }

    /// Writes a message. Of an exception, the messages are left out, because they may hold a part of a record.
    public static void write(System.Logger.Level level, String message, @Nullable Throwable thrown) {
        StringBuilder text = new StringBuilder(level.getName()).append(": ").append(message);
        Throwable cause = thrown;
        for (int depth = 0; cause != null && depth < CAUSES_MAX; depth++) {
            text.append("\n  ").append(cause.getClass().getName());
            for (StackTraceElement frame : cause.getStackTrace()) {
                text.append("\n    at ").append(frame);
            }
            cause = cause.getCause();
        }
        Consumer<String> to = sink;
        if (to != null) {
            to.accept(text.toString());
        }
    }
}
