package dev.onefold.cli.trial;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.OwnProcess;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// `onefold run` in a process of its own, which is killed on the way and started again until it is through.
final class KilledRun {
    static final int LIVES = 3;
    static final String MESSAGES = "trades.ndjson";
    static final String DATA = "data";

    private static final int LINES_MAX = 20;

    private final Caller caller;
    private final Path folder;
    private final long bytes;
    private final List<String> killedAt = new ArrayList<>();
    private final List<String> wentOnAt = new ArrayList<>();
    private long foldingNanos;
    private long recordsFolded;

    /// The progress that the process reports.
    ///
    /// @param bytes of the input that are folded
    /// @param records of it
    /// @param nanos when it was heard
    private record Tick(long bytes, long records, long nanos) {
        private static final Pattern LINE = Pattern.compile("([0-9]{1,18}) [0-9]{1,18} ([0-9]{1,18})");

        /// The tick that a line is, if it is one.
        private static @Nullable Tick parse(String line) {
            Matcher matcher = LINE.matcher(line);
            return matcher.matches()
                    ? new Tick(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)), System.nanoTime())
                    : null;
        }
    }

    /// @param story the kills, as a sentence
    /// @param elapsed from the first start to the last end
    /// @param folding of this, how long input was being folded
    /// @param recordsFolded in that time, those included that were folded again
    record Outcome(String story, Duration elapsed, Duration folding, long recordsFolded) {}

    KilledRun(Caller caller, Path folder, long bytes) {
        this.caller = caller;
        this.folder = folder;
        this.bytes = bytes;
    }

    Outcome run() throws IOException, InterruptedException {
        long startNanos = System.nanoTime();
        try (Progress progress = Progress.begin(caller, Progress.Mode.auto, "Folding", Progress.Unit.BYTES, bytes)) {
            int life = 1;
            while (!live(life < LIVES ? bytes / LIVES * life : Long.MAX_VALUE, progress)) {
                life++;
            }
        }
        String story = killedAt.isEmpty()
                ? "It was through before it could be killed; more messages (--events) take longer."
                : "Killed with SIGKILL at " + String.join(" and ", killedAt)
                        + " of the way; started again, it went on at " + String.join(" and ", wentOnAt)
                        + ", where its last checkpoint was.";
        return new Outcome(
                story, Duration.ofNanos(System.nanoTime() - startNanos), Duration.ofNanos(foldingNanos), recordsFolded);
    }

    private String percent(long atBytes) {
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * atBytes / bytes);
    }

    /// One life of the process. Returns whether it came to its own end.
    private boolean live(long killAtBytes, Progress progress) throws IOException, InterruptedException {
        List<String> said = new ArrayList<>();
        try (OwnProcess own = OwnProcess.start(
                        ProcessBuilder.Redirect.PIPE,
                        "run",
                        folder.resolve(DemoCommand.PIPELINE).toString(),
                        "--data",
                        folder.resolve(DATA).toString(),
                        "--progress",
                        "ticks",
                        "--input",
                        folder.resolve(MESSAGES).toString());
                BufferedReader ticks = own.process().errorReader()) {
            Tick first = null;
            Tick last = null;
            for (String line = ticks.readLine(); line != null; line = ticks.readLine()) {
                Tick tick = Tick.parse(line);
                if (tick == null) {
                    said.add(line);
                    continue;
                }
                if (first == null) {
                    first = tick;
                    if (!killedAt.isEmpty()) {
                        wentOnAt.add(percent(tick.bytes));
                    }
                }
                last = tick;
                progress.at(tick.bytes, tick.records);
                if (tick.bytes >= killAtBytes && tick.bytes < bytes) {
                    own.process().destroyForcibly();
                    break;
                }
            }
            int exitCode = own.process().waitFor();
            if (first != null && last != null) {
                foldingNanos += last.nanos - first.nanos;
                recordsFolded += last.records - first.records;
            }
            if (exitCode == ExitCode.DONE.code()) {
                return true;
            }
            if (last == null || last.bytes < killAtBytes) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "The process ended by itself with exit code " + exitCode + ", and said:\n"
                                + Words.visible(said.stream().limit(LINES_MAX).collect(Collectors.joining("\n"))));
            }
            killedAt.add(percent(last.bytes));
            return false;
        }
    }
}
