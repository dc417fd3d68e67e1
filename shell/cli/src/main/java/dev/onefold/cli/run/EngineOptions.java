package dev.onefold.cli.run;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.TimeOption;
import dev.onefold.embedded.Settings;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How the engine runs. None of it changes an answer.
public final class EngineOptions {
    private static final Pattern BYTES = Pattern.compile("([1-9][0-9]{0,8})([kmgt])b?");

    @Option(
            names = "--shards",
            paramLabel = "N",
            description = "Parts of the state, each owned by one thread, 1 to 256; may change from run to run."
                    + " Default: one for each processor.")
    private @Nullable Integer shards;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Threads that decode and fold, 1 to 256. Default: one for each processor.")
    private @Nullable Integer threads;

    @Option(
            names = "--checkpoint-interval",
            paramLabel = "T",
            description = "At most twice this much intake from files is folded again after a crash: 500ms, 2s, 1m."
                    + " Default: 1s.")
    private @Nullable String checkpointInterval;

    @Option(
            names = "--state-memory",
            paramLabel = "SIZE",
            description = "Memory for rows and index, outside the Java heap: 512m, 8g. Intake is refused before it is"
                    + " exceeded. Default: half of the machine's.")
    private @Nullable String stateMemory;

    @Option(
            names = "--undelivered-max",
            paramLabel = "SIZE",
            description = "Batches that are sealed and not delivered take at most about this much disk: 500m, 20g. Then"
                    + " intake waits until enough is delivered. Default: 100 GB.")
    private @Nullable String undeliveredMax;

    @Option(
            names = "--keep-journal",
            description =
                    "Makes a data directory that keeps for ever what came through standard input, so that totals can be"
                            + " recomputed from it. The directory remembers; 'onefold journal' releases it.")
    private boolean keepJournal;

    /// As the engine takes them.
    public Settings settings() {
        Settings settings = Settings.defaults().withKeepJournal(keepJournal);
        if (stateMemory != null) {
            settings = settings.withStateBytesMax(bytes("--state-memory", stateMemory));
        }
        if (undeliveredMax != null) {
            settings = settings.withUndeliveredBytesMax(bytes("--undelivered-max", undeliveredMax));
        }
        if (checkpointInterval != null) {
            settings = settings.withCheckpointInterval(TimeOption.of("--checkpoint-interval", checkpointInterval));
        }
        return settings.withShards(count("--shards", shards, settings.shards()))
                .withThreads(count("--threads", threads, settings.threads()));
    }

    /// The same for each of several engines in one process: they share the memory that one would have.
    public Settings settings(int engines) {
        Settings settings = settings();
        return stateMemory == null ? settings.withStateBytesMax(settings.stateBytesMax() / engines) : settings;
    }

    private static int count(String option, @Nullable Integer given, int otherwise) {
        if (given == null) {
            return otherwise;
        }
        if (given < 1 || given > 256) {
            throw CommandFailure.usage(option + " is 1 to 256, not " + given + ".");
        }
        return given;
    }

    private static long bytes(String option, String text) {
        Matcher matcher = BYTES.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw CommandFailure.usage(option + " is a number with k, m, g or t, such as 8g; not '" + text + "'.");
        }
        return Long.parseLong(matcher.group(1)) << 10 * ("kmgt".indexOf(matcher.group(2)) + 1);
    }
}
