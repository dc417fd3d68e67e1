package dev.onefold.core.shape;

import java.util.Set;

/// What code of the user threw. Its methods are the user's code, too: they may throw, and may not return.
public final class Thrown {
    private static final int MESSAGE_LENGTH_MAX = 500;

    /// The messages of the JVM when the memory of the whole process is used up.
    private static final Set<String> MEMORY_IS_USED_UP =
            Set.of("Java heap space", "GC overhead limit exceeded", "Metaspace", "Compressed class space");

    private Thrown() {}

    /// Rethrows what is no fault of one event alone: the memory of the process is used up.
    public static void requireMemory(Throwable thrown) {
        if (thrown.getClass() == OutOfMemoryError.class
                && thrown instanceof OutOfMemoryError error
                && error.getMessage() != null
                && MEMORY_IS_USED_UP.contains(error.getMessage())) {
            throw error;
        }
    }

    /// Its class, its message in one line, and where it was thrown, as far as it says so.
    public static String text(Throwable thrown) {
        String said;
        try {
            String message = thrown.getMessage();
            said = message == null ? "" : ": " + cut(message);
        } catch (Throwable e) {
            said = ", whose message cannot be read (" + e.getClass().getName() + ")";
        }
        String where;
        try {
            StackTraceElement[] stack = thrown.getStackTrace();
            where = stack.length == 0 ? "" : ", at " + stack[0];
        } catch (Throwable e) {
            where = "";
        }
        return thrown.getClass().getName() + said.replaceAll("[\\p{Cntrl}\\p{Cs}]", " ") + where;
    }

    private static String cut(String message) {
        return message.length() > MESSAGE_LENGTH_MAX ? message.substring(0, MESSAGE_LENGTH_MAX) + "…" : message;
    }
}
