package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.Stage;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// Failures on purpose: the process that does the work dies between two stages, and another one continues.
///
/// The command that a person starts does no work itself. It runs the same command in a process of its own, the
/// one that dies, and starts it again each time.
public final class FailOptions {
    public static final String FAIL = "--fail";
    public static final String LABEL = "PERCENT[:STAGE]";
    private static final String STAGES = "read (nothing is on disk), journal (forced, not folded), fold (folded, not"
            + " acknowledged), write (a checkpoint is written and not named), checkpoint (it is durable, nothing follows"
            + " from it yet), begin (a delivery has begun) or delivery (its end is not noted)";

    private static final Pattern TEXT = Pattern.compile("([0-9]{1,2}(?:\\.[0-9]{1,4})?)%?(?::([a-z]+))?");
    private static final Duration CHECKPOINT_INTERVAL_MAX = Duration.ofMillis(50);
    private static final int PERCENT_MAX = 50; // Above it a run of a file might never reach its next checkpoint.

    @Option(
            names = FAIL,
            arity = "1",
            paramLabel = LABEL,
            description = "For a trial: the process dies behind so many of a hundred passes through a stage, and is"
                    + " started again. Stages: " + STAGES + ". Without a stage: all. May be given several times.")
    private List<String> asked = List.of();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec command;

    /// A share of the passes through a stage that fail.
    ///
    /// @param stage `null`: each
    public record Failing(BigDecimal percent, @Nullable Stage stage) {
        /// What a person has written.
        public static Failing parse(String text) {
            Matcher matcher = TEXT.matcher(text);
            BigDecimal percent = matcher.matches() ? new BigDecimal(matcher.group(1)) : BigDecimal.ZERO;
            if (percent.signum() == 0 || percent.compareTo(BigDecimal.valueOf(PERCENT_MAX)) > 0) {
                throw CommandFailure.usage(FAIL + " is a percentage above 0 and up to " + PERCENT_MAX
                        + ", and may name a stage: 1%, 0.5%:journal; not '" + Words.visible(text) + "'.");
            }
            return new Failing(percent, matcher.group(2) == null ? null : stage(matcher.group(2)));
        }

        private static Stage stage(String word) {
            return Stream.of(Stage.values())
                    .filter(each -> word(each).equals(word))
                    .findFirst()
                    .orElseThrow(() -> CommandFailure.usage(FAIL + " names the stage '" + word + "'. Stages are "
                            + Stream.of(Stage.values()).map(FailOptions::word).collect(Collectors.joining(", "))
                            + "."));
        }
    }

    /// A stage as it is written on the command line.
    public static String word(Stage stage) {
        return stage.name().toLowerCase(Locale.ROOT);
    }

    /// Whether this process is to start the one that does the work.
    public boolean isSupervising() {
        return !asked.isEmpty() && !Lives.isLife();
    }

    /// Runs this command in processes that die, until one of them comes to its end.
    ///
    /// @param signals whether SIGTERM and SIGINT are this command's
    /// @return its exit code
    public int supervise(Caller caller, StopRequest stop, boolean signals) throws IOException {
        var _ = shares(); // What is wrong with them is said by this process, once.
        if (signals) {
            stop.makeOnSignals();
        }
        Lives lives = new Lives(
                new ProcessBuilder().inheritIO(),
                command.commandLine().getParseResult().originalArgs());
        int code = lives.run(stop);
        if (code == ExitCode.DONE.code() || lives.failed() > 0) {
            caller.note(lives.text());
        }
        return code;
    }

    /// The same settings; in a process that is to die, with failures, and with checkpoints so soon that each
    /// life gets further than the one before.
    public Settings into(Settings settings) {
        if (asked.isEmpty()) {
            return settings;
        }
        Lives.dieWithParent();
        Map<Stage, BigDecimal> shares = shares();
        Settings often = settings.checkpointInterval().compareTo(CHECKPOINT_INTERVAL_MAX) > 0
                ? settings.withCheckpointInterval(CHECKPOINT_INTERVAL_MAX)
                : settings;
        return often.withPassed(stage -> {
            double percent = shares.getOrDefault(stage, BigDecimal.ZERO).doubleValue();
            if (ThreadLocalRandom.current().nextDouble(100) < percent) {
                Lives.die(stage);
            }
        });
    }

    /// The percentage of each stage.
    private Map<Stage, BigDecimal> shares() {
        Map<Stage, BigDecimal> shares = new EnumMap<>(Stage.class);
        for (Failing failing : asked.stream().map(Failing::parse).toList()) {
            for (Stage stage : failing.stage() == null ? List.of(Stage.values()) : List.of(failing.stage())) {
                BigDecimal percent = shares.merge(stage, failing.percent(), BigDecimal::add);
                if (percent.compareTo(BigDecimal.valueOf(PERCENT_MAX)) > 0) {
                    throw CommandFailure.usage(FAIL + " adds up to " + percent + "% behind " + word(stage)
                            + "; at most " + PERCENT_MAX + "% are possible.");
                }
            }
        }
        return shares;
    }
}
