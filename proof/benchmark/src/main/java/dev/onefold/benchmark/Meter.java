package dev.onefold.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/// What a run cost this process: wall time, processor time of all its threads, and memory; and how busy the rest of
/// the machine was meanwhile, because a wall time beside other work says little.
final class Meter {
    private final long startNanos = System.nanoTime();
    private final Duration cpu = cpuNow();
    private final double machine = machineNow();

    private static Duration cpuNow() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /// Busy seconds of all processors since the machine was started; 0 where /proc does not say.
    private static double machineNow() {
        try {
            String[] fields =
                    Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +", -1);
            double ticks = 0;
            for (int i : new int[] {1, 2, 3, 6, 7, 8}) {
                ticks += Double.parseDouble(fields[i]);
            }
            return ticks / 100;
        } catch (IOException notLinux) {
            return 0;
        }
    }

    /// Bytes of memory that are this process's own: heap and off the heap, not the page cache; 0 where /proc does
    /// not say.
    static long residentBytes() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                    .findFirst()
                    .orElse(0);
        } catch (IOException notLinux) {
            return 0;
        }
    }

    /// The run so far.
    Run stop(String what, long messages) {
        double wall = (System.nanoTime() - startNanos) / 1e9;
        double mine = cpuNow().minus(cpu).toMillis() / 1e3;
        double others = Math.max(0, machineNow() - machine - mine);
        return new Run(what, messages, wall, mine, others, residentBytes());
    }

    /// One run.
    ///
    /// @param wallSeconds from the first byte read until all is as durable as the run makes it
    /// @param cpuSeconds of all threads, the virtual machine's included
    /// @param othersCpuSeconds of the rest of the machine meanwhile
    record Run(
            String what,
            long messages,
            double wallSeconds,
            double cpuSeconds,
            double othersCpuSeconds,
            long residentBytes) {
        private static final String MARK = "run\t";

        double perSecond() {
            return messages / wallSeconds;
        }

        double cpuSecondsPerMillion() {
            return cpuSeconds / messages * 1e6;
        }

        String toLine() {
            return MARK + what + "\t" + messages + "\t" + wallSeconds + "\t" + cpuSeconds + "\t" + othersCpuSeconds
                    + "\t" + residentBytes;
        }

        static boolean isLine(String line) {
            return line.startsWith(MARK);
        }

        static Run ofLine(String line) {
            String[] fields = line.split("\t", -1);
            return new Run(
                    fields[1],
                    Long.parseLong(fields[2]),
                    Double.parseDouble(fields[3]),
                    Double.parseDouble(fields[4]),
                    Double.parseDouble(fields[5]),
                    Long.parseLong(fields[6]));
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%-22s %,11d %8.2f s %,11.0f/s %6.2f CPU-s/M %,6d MB   others %5.1f CPU-s",
                    what,
                    messages,
                    wallSeconds,
                    perSecond(),
                    cpuSecondsPerMillion(),
                    residentBytes >> 20,
                    othersCpuSeconds);
        }
    }
}
