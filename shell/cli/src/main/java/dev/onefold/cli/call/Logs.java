package dev.onefold.cli.call;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where a command that runs for long writes what the parts of Onefold log; nowhere by default. It is one place for the
/// process, as loggers are. Any thread may call.
public final class Logs {
    private static final int CAUSES_MAX = 5;

    private static volatile @Nullable Sink sink;

    private Logs() {}

    /// Takes messages. Any thread may call.
    public interface Sink {
        /// @param where something went wrong, line by line; empty if that is not known
        void write(System.Logger.Level level, String message, List<String> where);
    }

    /// As a person reads it on a caller's standard error; or as JSON, if that is what the caller wants.
    public static Sink of(Caller caller) {
        if (caller.err() instanceof JsonLog json) {
            return json;
        }
        return (level, message, where) -> {
            StringBuilder text = new StringBuilder(level.getName()).append(": ").append(message);
            where.forEach(line -> text.append("\n  ").append(line));
            caller.note(text.toString());
        };
    }

    /// Writes warnings and errors there from now on.
    public static void to(Sink written) {
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
        List<String> where = new ArrayList<>();
        Throwable cause = thrown;
        for (int depth = 0; cause != null && depth < CAUSES_MAX; depth++) {
            where.add(cause.getClass().getName());
            for (StackTraceElement frame : cause.getStackTrace()) {
                where.add("  at " + frame);
            }
            cause = cause.getCause();
        }
        Sink to = sink;
        if (to != null) {
            to.write(level, message, where);
        }
    }
}
