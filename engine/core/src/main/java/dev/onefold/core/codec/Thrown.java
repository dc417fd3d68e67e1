package dev.onefold.core.codec;

import java.lang.ref.Reference;

/// Describes an exception or error that the user's code threw. The methods of such an object are the user's code,
/// too: they may throw, and may not return.
public final class Thrown {
    private static final int MESSAGE_LENGTH_MAX = 500;

    /// Free heap that must be available.
    private static final int ROOM_BYTES = 4 << 20;

    private Thrown() {}

    /// Throws an error again that is not the fault of one event alone: the memory of the process is used up.
    /// If there is memory again after the user's code has returned, that code has asked for too much, or has
    /// thrown the error itself.
    ///
    /// @throws OutOfMemoryError of the JVM
    @SuppressWarnings("ReachabilityFenceUsage") // It keeps the compiler from leaving out the allocation.
    public static void requireMemory(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError) {
            Reference.reachabilityFence(new byte[ROOM_BYTES]);
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
