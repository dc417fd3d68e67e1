package dev.onefold.embedded.disk;

/// Divides the sizes at which something rolls over: segments, logs, chunks. A simulation sets the system
/// property `onefold.scale`, so that some dozen records reach limits that otherwise need gigabytes; elsewhere
/// it is 1. A data directory is read at the scale at which it was written.
public final class Scale {
    private static final int DIVISOR = Integer.getInteger("onefold.scale", 1);

    private Scale() {}

    /// A size, divided by the scale.
    public static int of(int size) {
        return Math.max(1, size / DIVISOR);
    }
}
