package dev.onefold.embedded.rows;

import java.lang.management.ManagementFactory;

/// How much memory this machine or container has.
public final class MachineMemory {
    private MachineMemory() {}

    /// Bytes, as the container allows them.
    public static long bytes() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean machine
                ? machine.getTotalMemorySize()
                : 4L << 30;
    }
}
