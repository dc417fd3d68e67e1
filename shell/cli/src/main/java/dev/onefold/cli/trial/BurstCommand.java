package dev.onefold.cli.trial;

import dev.onefold.load.BurstLoad;
import dev.onefold.load.Pace;
import dev.onefold.load.TradeRiskMix;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `onefold generate burst`: messages for batches.
@Command(
        name = "burst",
        aliases = "queue",
        description = {
            "Makes a burst of messages, one JSON object a line, about 300 bytes each. Some of them repeat an earlier"
                    + " message; half of the repeats say \"attempt\":2.",
            "The same options and seed give the same bytes."
        },
        footer = {
            "  1.2 million messages, a tenth of them repeats, and the right answer:",
            "    onefold generate burst --events 1200000 --duplicates 10 \\",
            "      --output burst.ndjson --right right.json",
            "  The same as load of a queue:",
            "    onefold generate queue --events 20000 |",
            "      onefold aws produce orders.yaml --queue URL"
        })
final class BurstCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    @Option(names = "--events", paramLabel = "N", description = "How many messages. Default: ${DEFAULT-VALUE}.")
    private long events = 1_000_000;

    @Option(names = "--seed", paramLabel = "S", description = "Where chance begins. Default: ${DEFAULT-VALUE}.")
    private long seed = 42;

    @Option(
            names = "--duplicates",
            paramLabel = "%",
            description = "Messages that repeat any earlier one. Default: ${DEFAULT-VALUE}.")
    private BigDecimal duplicates = BigDecimal.valueOf(5);

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Where the messages go; a file is rewritten. Default: - (standard output).")
    private String output = "-";

    @Option(
            names = "--right",
            paramLabel = "FILE",
            description = "Where the right answer goes, as JSON: how many messages are different, and the SHA-256 of"
                    + " the first message of each id, in their order.")
    private @Nullable Path right;

    @Option(
            names = {"-q", "--quiet"},
            description = "No summary on standard error.")
    private boolean quiet;

    @Override
    public Integer call() throws IOException, InterruptedException {
        BurstLoad load;
        long startNanos = System.nanoTime();
        try {
            load = new BurstLoad(events, TradeRiskMix.ofMillion(duplicates), seed);
        } catch (IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), String.valueOf(refused.getMessage()), refused);
        }
        int code = new LoadOutput(output).write(load, new Pace(0, startNanos), events, () -> {});
        if (code != 0) {
            return code;
        }
        if (right != null) {
            Files.writeString(
                    right,
                    "{\"messages\": " + events + ", \"distinct\": " + load.distinct() + ", \"sha256\": \""
                            + load.sha256() + "\"}\n");
        }
        if (!quiet) {
            report(load, System.nanoTime() - startNanos);
        }
        return 0;
    }

    private void report(BurstLoad load, long nanos) {
        spec.commandLine()
                .getErr()
                .printf(
                        Locale.ROOT,
                        "%,d messages, %,.1f MB, in %.1f s: %,d different ones, %,d repeats.%n",
                        events,
                        load.bytes() / 1e6,
                        Math.max(nanos, 1) / 1e9,
                        load.distinct(),
                        events - load.distinct());
    }
}
