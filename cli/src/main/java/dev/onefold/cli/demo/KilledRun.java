package dev.onefold.cli.demo;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// `onefold run` in a process of its own, which is killed on the way and started again until it is through.
final class KilledRun {
    static final String MESSAGES = "trades.ndjson";
    static final String DATA = "data";

    private static final int LIVES_MAX = 3;
    private static final int LINES_MAX = 20;

    private final Caller caller;
    private final Path folder;
    private final long bytes;
    private final List<Kill> kills = new ArrayList<>();
    private final List<String> lines = new ArrayList<>();
    private long foldingNanos;
    private long recordsFolded;

    /// @param atBytes how far it was
    /// @param exitCode of the process, as the system says it
    private record Kill(long atBytes, int exitCode, List<Long> wentOnAt) {}

    /// @param elapsed from the first start to the last end
    /// @param folding of this, how long input was being folded
    /// @param recordsFolded in that time, those included that were folded again
    record Outcome(List<String> kills, List<String> wentOn, Duration elapsed, Duration folding, long recordsFolded) {
        String sentence(long bytes) {
            if (kills.isEmpty()) {
                return "It was through before it could be killed; more messages (--events) take longer.";
            }
            return "Killed with SIGKILL at " + String.join(" and ", kills)
                    + " of the way; started again, it went on at " + String.join(" and ", wentOn)
                    + ", where its last checkpoint was.";
        }
    }

    KilledRun(Caller caller, Path folder, long bytes) {
        this.caller = caller;
        this.folder = folder;
        this.bytes = bytes;
    }

    Outcome run() throws IOException {
        long startNanos = System.nanoTime();
        try (Progress progress = Progress.begin(caller, Progress.Mode.auto, "Folding", Progress.Unit.BYTES, bytes)) {
            boolean through = false;
            for (int life = 1; !through; life++) {
                through = live(life < LIVES_MAX ? bytes / LIVES_MAX * life : Long.MAX_VALUE, progress);
            }
        }
        return new Outcome(
                kills.stream().map(kill -> percent(kill.atBytes())).toList(),
                kills.stream()
                        .flatMap(kill -> kill.wentOnAt().stream())
                        .map(this::percent)
                        .toList(),
                Duration.ofNanos(System.nanoTime() - startNanos),
                Duration.ofNanos(foldingNanos),
                recordsFolded);
    }

    private String percent(long atBytes) {
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * atBytes / bytes);
    }

    /// One life of the process. Returns whether it came to its own end.
    private boolean live(long killAtBytes, Progress progress) throws IOException {
        Process process = new ProcessBuilder(command(
                        "run",
                        folder.resolve(DemoCommand.PIPELINE).toString(),
                        "--data",
                        folder.resolve(DATA).toString(),
                        "--progress",
                        "ticks",
                        "--input",
                        folder.resolve(MESSAGES).toString()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Thread killer = new Thread(process::destroyForcibly); // Whoever stops the demo stops what it started.
        Runtime.getRuntime().addShutdownHook(killer);
        lines.clear();
        try (BufferedReader ticks = process.errorReader()) {
            Tick first = null;
            Tick last = null;
            for (String line = ticks.readLine(); line != null; line = ticks.readLine()) {
                Tick tick = Tick.parse(line);
                if (tick == null) {
                    lines.add(line);
                    continue;
                }
                if (first == null && !kills.isEmpty()) {
                    kills.getLast().wentOnAt().add(tick.bytes());
                }
                first = first == null ? tick : first;
                last = tick;
                progress.at(tick.bytes(), tick.records());
                if (tick.bytes() >= killAtBytes && tick.bytes() < bytes) {
                    process.destroyForcibly();
                    break;
                }
            }
            int exitCode = process.waitFor();
            if (first != null && last != null) {
                foldingNanos += last.nanos() - first.nanos();
                recordsFolded += last.records() - first.records();
            }
            if (exitCode == ExitCode.DONE.code()) {
                return true;
            }
            if (last == null || last.bytes() < killAtBytes) {
                throw failed(exitCode);
            }
            kills.add(new Kill(last.bytes(), exitCode, new ArrayList<>()));
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.INTERRUPTED, "The demo was interrupted.", e);
        } finally {
            process.destroyForcibly();
            removeHook(killer);
        }
    }

    private CommandFailure failed(int exitCode) {
        String said = lines.stream().limit(LINES_MAX).collect(Collectors.joining("\n"));
        return new CommandFailure(
                ExitCode.DIFFERENT,
                "The process ended by itself with exit code " + exitCode + ", and said:\n" + Words.visible(said));
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // Then it runs, and kills what is dead already.
        }
    }

    /// The same program as this one, by the same Java.
    static List<String> command(String... words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", classPath(), "dev.onefold.cli.Main"));
        command.addAll(List.of(words));
        return command;
    }

    private static String classPath() {
        return System.getProperty("java.class.path", ".")
                .replace(File.pathSeparator + File.pathSeparator, File.pathSeparator);
    }
}
