package dev.onefold.cli.trial;

import dev.onefold.cli.call.TimeOption;
import dev.onefold.load.Pace;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import dev.onefold.load.TradeRiskTotals;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `onefold generate trade-risk`: the load producer of the reference design.
@Command(
        name = "trade-risk",
        description = {
            "Makes the messages of a trade-risk system, one JSON object a line: new trades, corrections of value and"
                    + " hierarchy, duplicates, older versions that arrive late, deletes, and records that are no event.",
            "The same options and seed give the same bytes."
        },
        footer = {
            "  A million messages, and the totals that are right for them:",
            "    onefold generate trade-risk --output trades.ndjson --totals right.json",
            "  With deletes and garbage, straight into a pipeline:",
            "    onefold generate trade-risk --deletes 1 --malformed 0.1 |",
            "      onefold run examples/trade-risk/pipeline.yaml --input -",
            "  5,000 a second for a minute:",
            "    onefold generate trade-risk --events 300000 --rate 5000"
        })
final class TradeRiskCommand implements Callable<Integer> {
    private static final long BATCH_MESSAGES = 1_000_000;
    private static final long BATCH_MESSAGES_SHOWN = 10_000;

    /// Shares that are known by a name.
    enum Workload {
        benchmark,
        demo;

        TradeRiskMix mix() {
            return switch (this) {
                case benchmark -> TradeRiskMix.BENCHMARK;
                case demo -> TradeRiskMix.DEMO;
            };
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    @Option(names = "--events", paramLabel = "N", description = "How many messages. Default: ${DEFAULT-VALUE}.")
    private long events = 1_000_000;

    @Option(names = "--seed", paramLabel = "S", description = "Where chance begins. Default: ${DEFAULT-VALUE}.")
    private long seed = 42;

    @Option(
            names = "--workload",
            paramLabel = "NAME",
            description = {
                "Shares known by a name, which the options below change one by one: benchmark (20 %% corrections, 5 %%"
                        + " duplicates, 5 %% late, the rest new) or demo (1 %% deletes and 0.1 %% malformed besides).",
                "Default: ${DEFAULT-VALUE}."
            })
    private Workload workload = Workload.benchmark;

    @Option(
            names = "--corrections",
            paramLabel = "%",
            description =
                    "A higher version of any trade, with other value and hierarchy. Of a deleted trade: it is back.")
    private @Nullable BigDecimal corrections;

    @Option(names = "--duplicates", paramLabel = "%", description = "One of the last 1,000 messages again.")
    private @Nullable BigDecimal duplicates;

    @Option(
            names = "--late",
            paramLabel = "%",
            description = "An older version of a trade, after a newer one or its delete.")
    private @Nullable BigDecimal late;

    @Option(names = "--deletes", paramLabel = "%", description = "The end of any trade.")
    private @Nullable BigDecimal deletes;

    @Option(
            names = "--malformed",
            paramLabel = "%",
            description = "Truncated, no JSON at all, a number that is none, no key, NaN.")
    private @Nullable BigDecimal malformed;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Messages a second; 0: as fast as possible. Default: ${DEFAULT-VALUE}.")
    private long rate;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Where the messages go; a file is rewritten. Default: - (standard output).")
    private String output = "-";

    @Option(
            names = "--totals",
            paramLabel = "FILE",
            description =
                    "Where the right totals go, as JSON: value and count per node of the tree, and how many messages"
                            + " of each kind were made.")
    private @Nullable Path totals;

    @Option(
            names = "--totals-every",
            paramLabel = "T",
            description = "While it runs, shows on standard error how many messages there are and what the totals are"
                    + " then: 500ms, 5s, 1m.")
    private @Nullable String totalsEvery;

    @Option(
            names = {"-q", "--quiet"},
            description = "No summary on standard error.")
    private boolean quiet;

    private long shownEachNanos;
    private long shownNanos;

    @Override
    public Integer call() throws IOException, InterruptedException {
        TradeRiskLoad load;
        Pace pace;
        long startNanos = System.nanoTime();
        shownEachNanos = totalsEvery == null
                ? Long.MAX_VALUE
                : TimeOption.of("--totals-every", totalsEvery).toNanos();
        shownNanos = startNanos;
        try {
            load = new TradeRiskLoad(mix(), events, seed);
            pace = new Pace(rate, startNanos);
        } catch (IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), String.valueOf(refused.getMessage()), refused);
        }
        // So small a batch that its own time is no part of the interval at which totals are shown.
        long batch = totalsEvery == null ? BATCH_MESSAGES : BATCH_MESSAGES_SHOWN;
        int code = new LoadOutput(output).write(load, pace, batch, () -> show(load));
        if (code != 0) {
            return code;
        }
        TradeRiskTotals right = load.totals();
        if (totals != null) {
            Files.writeString(totals, right.toJson());
        }
        if (!quiet) {
            report(right, System.nanoTime() - startNanos);
        }
        return 0;
    }

    private TradeRiskMix mix() {
        TradeRiskMix named = workload.mix();
        return new TradeRiskMix(
                share("--corrections", corrections, named.corrections()),
                share("--duplicates", duplicates, named.duplicates()),
                share("--late", late, named.late()),
                share("--deletes", deletes, named.deletes()),
                share("--malformed", malformed, named.malformed()));
    }

    private static int share(String option, @Nullable BigDecimal percent, int named) {
        try {
            return percent == null ? named : TradeRiskMix.ofMillion(percent);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(option + " " + refused.getMessage(), refused);
        }
    }

    private void show(TradeRiskLoad load) {
        long now = System.nanoTime();
        if (now - shownNanos < shownEachNanos) {
            return;
        }
        shownNanos = now;
        TradeRiskTotals right = load.totals();
        String all = right.groups().isEmpty()
                ? "nothing yet"
                : "value %s, trades %,d"
                        .formatted(
                                right.groups().getFirst().value(),
                                right.groups().getFirst().trades());
        spec.commandLine()
                .getErr()
                .printf(Locale.ROOT, "%,d messages: %s%n", right.made().messages(), all);
        spec.commandLine().getErr().flush();
    }

    private void report(TradeRiskTotals right, long nanos) {
        TradeRiskTotals.Made made = right.made();
        double seconds = Math.max(nanos, 1) / 1e9;
        String kinds = made.byKind().entrySet().stream()
                .map(kind -> String.format(Locale.ROOT, "%,d %s", kind.getValue(), kind.getKey()))
                .collect(Collectors.joining(", "));
        spec.commandLine()
                .getErr()
                .printf(
                        Locale.ROOT,
                        "%,d messages, %,.1f MB, in %.1f s (%,.0f a second): %s.%n",
                        made.messages(),
                        right.bytes() / 1e6,
                        seconds,
                        made.messages() / seconds,
                        kinds);
    }
}
