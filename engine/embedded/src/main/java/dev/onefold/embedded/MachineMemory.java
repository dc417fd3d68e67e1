package dev.onefold.embedded;

import java.lang.management.ManagementFactory;

/// How much memory this machine or container has.
final class MachineMemory {
    private MachineMemory() {}

    /// Bytes, as the container allows them.
    public static long bytes() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean machine
                ? machine.getTotalMemorySize()
                : 4L << 30;
    }
}
