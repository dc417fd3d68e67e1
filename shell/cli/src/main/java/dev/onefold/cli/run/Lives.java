package dev.onefold.cli.run;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.OwnProcess;
import dev.onefold.cli.show.Words;
import dev.onefold.embedded.source.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// A command in a process that dies on purpose and is started again, until it comes to its own end.
public final class Lives {
    private static final String LIFE = "onefold.life";
    private static final int DIED = 100; // Plus the place of the stage in the list: exit codes that no command has.
    private static final List<Stage> STAGES = List.of(Stage.values());
    private static final long LOOK_MS = 50;

    /// After it, a life that goes on was told nothing.
    private static final Duration UNTOLD_MAX = Duration.ofSeconds(5);

    private final ProcessBuilder builder;
    private final List<String> words;
    private final Map<Stage, Integer> failures = new EnumMap<>(Stage.class);

    /// @param builder has the destinations of its output
    public Lives(ProcessBuilder builder, List<String> words) {
        this.builder = builder;
        this.words = List.copyOf(words);
    }

    /// Whether this process is one of the lives.
    static boolean isLife() {
        return Boolean.getBoolean(LIFE);
    }

    /// Ends this process as a crash does: nothing is closed, nothing is written.
    static void die(Stage stage) {
        Runtime.getRuntime().halt(DIED + STAGES.indexOf(stage));
    }

    /// From now on this process ends with the one that has started it.
    static void dieWithParent() {
        ProcessHandle.current().parent().ifPresent(parent -> {
            var _ = parent.onExit().thenRun(() -> Runtime.getRuntime().halt(ExitCode.DIFFERENT.code()));
        });
    }

    /// Runs the command to its end.
    ///
    /// @return its exit code
    public int run(StopRequest stop) throws IOException {
        while (true) {
            int code = live(stop);
            int stage = code - DIED;
            if (stage < 0 || stage >= STAGES.size()) {
                return code;
            }
            synchronized (failures) {
                failures.merge(STAGES.get(stage), 1, Integer::sum);
            }
            if (stop.isMade()) {
                return stop.exitCodeOr(ExitCode.DONE).code();
            }
        }
    }

    private int live(StopRequest stop) throws IOException {
        try (OwnProcess own = OwnProcess.start(builder, List.of("-D" + LIFE + "=true"), words)) {
            boolean isTold = false;
            long stopNanos = 0;
            while (!own.process().waitFor(LOOK_MS, TimeUnit.MILLISECONDS)) {
                if (!stop.isMade() || isTold) {
                    stopNanos = System.nanoTime();
                } else if (stop.exitCodeOr(ExitCode.DIFFERENT) == ExitCode.DONE
                        || System.nanoTime() - stopNanos > UNTOLD_MAX.toNanos()) {
                    own.process().destroy(); // A terminal sends its Ctrl-C to both, others one signal to this one.
                    isTold = true;
                }
            }
            return own.process().exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return stop.exitCodeUnfinished().code();
        }
    }

    /// How many have died so far.
    public int failed() {
        synchronized (failures) {
            return failures.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    /// How many have died behind which stage, as a sentence.
    String text() {
        synchronized (failures) {
            return failures.isEmpty()
                    ? "No failure was injected: more input, or a higher percentage, has more of them."
                    : "Failed on purpose " + Words.count(failed(), "time") + ": "
                            + failures.entrySet().stream()
                                    .map(each -> each.getValue() + " behind " + FailOptions.word(each.getKey()))
                                    .collect(Collectors.joining(", "))
                            + ". Each time the process died as in a crash, and the next one continued.";
        }
    }
}
