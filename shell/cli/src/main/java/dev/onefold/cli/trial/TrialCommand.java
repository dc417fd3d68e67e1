package dev.onefold.cli.trial;

import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.aws.FunctionArchive;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.data.Questions;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.BurstLoad;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold aws trial`: a deployment that is made, fed, compared and deleted again.
@Command(
        name = "trial",
        description = {
            "Tries a pipeline on AWS, with one command: makes a stack, puts records into it at a rate, shows how far"
                    + " the producer and the engine are, compares them at the end, says what it has cost, and deletes"
                    + " all that it has made, also after Ctrl-C.",
            "It says what it will make and what that costs, and asks, before it begins.",
            "It makes records for the pipeline of examples/trade-risk, with or without its delete condition, and for"
                    + " batches of JSON with the id 'id', such as examples/bursts. For another pipeline give records"
                    + " with --input.",
            "Totals and the rows of a function's tables must be those that the embedded engine makes of the same"
                    + " records, on this machine. Batches are delivered into the trial's own bucket, never to the"
                    + " receiver in the file, and each different record must be in exactly one of them.",
            "With --local all of it is on this machine, on servers that stand in for AWS (from a clone; it needs Node"
                    + " and Maven)."
        },
        footer = {
            "  On this machine, with failures:",
            "    onefold aws trial examples/trade-risk/pipeline.yaml --local \\",
            "      --minutes 1 --fail-state 1 --fail-reduce 2",
            "  In an account, a thousand records a second for five minutes:",
            "    onefold aws trial trade-risk.yaml --rate 1000 --minutes 5 \\",
            "      --duplicates 5 --late 5 --region eu-central-1",
            "  Records of your own, with faults, for a function:",
            "    onefold aws trial runs.yaml --input runs.ndjson --rate 500 \\",
            "      --duplicates 5 --late 5 --poison 1",
            "  Batches:",
            "    onefold aws trial burst.yaml --rate 2000 --fail-collect 1 --fail-deliver 5",
            "  What --keep has left, or a killed trial:",
            "    onefold aws clean trade-risk-trial"
        })
public final class TrialCommand implements Callable<Integer> {
    private static final String NAME = "[a-z][a-z0-9-]{0,35}";
    private static final long RATE_MAX = 100_000;
    private static final long MINUTES_MAX = 24 * 60;

    private static final long MEMBERS_MAX = 10_000_000;
    private static final long STEPS_MAX = 500_000;
    private static final Identity MESSAGE_ID = Identity.ById.of(List.of(FieldPath.of("id")), null);

    private static final Set<String> OWN_PARAMETERS =
            Set.of("CodeBucket", "CodeKey", "DeletionProtection", "ParallelizationFactor");

    /// The stand-in for DynamoDB takes its time for each gate that a new deployment writes.
    private static final String GATES = "Gates";

    private static final String GATES_LOCAL = "64";

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String file = "";

    @Option(names = "--rate", paramLabel = "N", description = "Records a second. Default: ${DEFAULT-VALUE}.")
    private long rate = 1_000;

    @Option(names = "--minutes", paramLabel = "N", description = "For how long. Default: ${DEFAULT-VALUE}.")
    private long minutes = 5;

    @Option(
            names = "--records",
            paramLabel = "N",
            description = "At most so many records, however long it would go on.")
    private @Nullable Long records;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description = "Records of your own, each line one; it may be given several times. They end where the files"
                    + " end, or after --minutes.")
    private List<String> input = List.of();

    @Option(
            names = "--duplicates",
            paramLabel = "%",
            description = "How many records repeat an earlier one. Default: 5; with --input: 0.")
    private @Nullable BigDecimal duplicates;

    @Option(
            names = "--late",
            paramLabel = "%",
            description = "How many records come late, up to 1,000 records after their turn. Default: 5; with --input:"
                    + " 0.")
    private @Nullable BigDecimal late;

    @Option(
            names = "--poison",
            paramLabel = "%",
            description = "How many records are no event. Default: ${DEFAULT-VALUE}.")
    private BigDecimal poison = BigDecimal.ZERO;

    @Option(names = "--seed", paramLabel = "S", description = "Where chance begins. Default: ${DEFAULT-VALUE}.")
    private long seed = 42;

    @Option(
            names = "--fail-state",
            paramLabel = "%",
            description = "Of the invocations of State, those that fail on purpose: half of them before they write"
                    + " anything, half after all of it. Default: 0.")
    private @Nullable BigDecimal failState;

    @Option(names = "--fail-reduce", paramLabel = "%", description = "The same of Reduce. Default: 0.")
    private @Nullable BigDecimal failReduce;

    @Option(
            names = "--fail-collect",
            paramLabel = "%",
            description = "The same of Collect, for batches. Its messages come again after three minutes. Default: 0.")
    private @Nullable BigDecimal failCollect;

    @Option(names = "--fail-deliver", paramLabel = "%", description = "The same of Deliver. Default: 0.")
    private @Nullable BigDecimal failDeliver;

    @Option(
            names = "--parameter",
            paramLabel = "NAME=VALUE",
            description = "A parameter of the template, such as EnhancedFanOut=true; it may be given several times.")
    private Map<String, String> parameters = Map.of();

    @Option(
            names = "--archive",
            paramLabel = "FILE",
            description = "The archive of the functions, as 'onefold aws package' writes it. Default: one of this"
                    + " program.")
    private @Nullable String archive;

    @Option(names = "--local", description = "On this machine, on servers that stand in for AWS.")
    private boolean local;

    @Option(
            names = "--keep",
            description = "Leaves at the end what was made; 'onefold aws clean NAME' deletes it. With --local it is"
                    + " there until Ctrl-C, if the trial came to its end.")
    private boolean keep;

    @Option(
            names = {"-y", "--yes"},
            description = "Begins without asking.")
    private boolean yes;

    /// @param aws says where
    public TrialCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException {
        Pipeline read = PipelineArgument.read(caller, file);
        String name = name(read);
        String bucket = TrialStack.newBucket(name);
        TrialPipeline tried = TrialPipeline.of(caller, file, read, bucket);
        requireParameters(tried.parameters());
        TrialSettings settings = settings(name, tried);
        Board board = new Board(caller);
        try (Workplace workplace = Workplace.temporary("onefold-trial");
                TrialLoad load = load(tried, settings, workplace.folder().resolve("right"))) {
            Path functions = archive(workplace.folder(), tried.pipeline());
            board.say(settings.announcement(loadText(read)));
            if (!yes) {
                Questions.require(caller, "Begin?", "Nothing was made.");
            }
            StopRequest stop = new StopRequest();
            stop.makeOnSignals();
            stop.makeOnHangup();
            Trial.Code code = new Trial.Code(functions, bucket);
            if (local) {
                try (StandIns.EmptyAccount here =
                                StandIns.of("aws trial --local").account();
                        Services services = Services.at(aws, here.place())) {
                    Trial trial = new Trial(caller, board, services, settings, stop);
                    ExitCode result = trial.run(code, load);
                    trial.hold();
                    return result.code();
                }
            }
            try (Services services = Services.at(aws, aws.place())) {
                return new Trial(caller, board, services, settings, stop)
                        .run(code, load)
                        .code();
            }
        }
    }

    private Path archive(Path folder, Pipeline pipeline) throws IOException {
        return archive == null
                ? FunctionArchive.made(caller, file, pipeline, List.of(), folder)
                : InputFile.ofBytes(caller, archive);
    }

    private String name(Pipeline pipeline) {
        String name = aws.deployment(pipeline.name() + "-trial");
        if (!name.matches(NAME)) {
            throw CommandFailure.usage("The name of a trial is part of a bucket's name: a small letter, then small"
                    + " letters, digits and -, 36 characters at most. Give one with --deployment; not " + name + ".");
        }
        return name;
    }

    private TrialSettings settings(String name, TrialPipeline tried) {
        if (rate < 1 || rate > RATE_MAX) {
            throw CommandFailure.usage(
                    "--rate is 1 to " + Words.count(RATE_MAX) + " records a second; not " + rate + ".");
        }
        if (minutes < 1 || minutes > MINUTES_MAX) {
            throw CommandFailure.usage("--minutes is 1 to " + MINUTES_MAX + "; not " + minutes + ".");
        }
        if (records != null && records < 1) {
            throw CommandFailure.usage("--records is 1 or more; not " + records + ".");
        }
        Map<String, String> all = new TreeMap<>();
        if (local && tried.parameters().contains(GATES)) {
            all.put(GATES, GATES_LOCAL);
        }
        all.putAll(parameters);
        Duration time = Duration.ofMinutes(minutes);
        long most = Math.min(rate * time.toSeconds(), records == null ? Long.MAX_VALUE : records);
        return new TrialSettings(
                name, tried, new TrialSettings.Amount(rate, time, most), failures(tried.failing()), all, keep, local);
    }

    private SortedMap<String, BigDecimal> failures(List<String> failing) {
        Map<String, @Nullable BigDecimal> said = new TreeMap<>();
        said.put("State", failState);
        said.put("Reduce", failReduce);
        said.put("Collect", failCollect);
        said.put("Deliver", failDeliver);
        SortedMap<String, BigDecimal> failures = new TreeMap<>();
        said.forEach((function, percent) -> {
            String option = "--fail-" + function.toLowerCase(Locale.ROOT);
            if (failing.contains(function)) {
                BigDecimal value = percent == null ? BigDecimal.ZERO : percent;
                share(option, value);
                failures.put(function, value);
            } else if (percent != null) {
                throw CommandFailure.usage("This pipeline's deployment has no function " + function + ": " + option
                        + " is not for it. Its functions that can fail on purpose are " + String.join(" and ", failing)
                        + ".");
            }
        });
        return failures;
    }

    private void requireParameters(List<String> known) {
        for (String parameter : parameters.keySet()) {
            if (OWN_PARAMETERS.contains(parameter)) {
                throw CommandFailure.usage("A trial sets the parameter " + parameter + " itself.");
            }
            if (!known.contains(parameter)) {
                throw CommandFailure.usage("The template has no parameter " + parameter + "."
                        + NearestWord.nearest(parameter, known)
                                .map(meant -> " Did you mean " + meant + "?")
                                .orElse(""));
            }
        }
    }

    private BigDecimal duplicates() {
        return duplicates == null ? byDefault() : duplicates;
    }

    private BigDecimal late() {
        return late == null ? byDefault() : late;
    }

    private BigDecimal byDefault() {
        return input.isEmpty() ? BigDecimal.valueOf(5) : BigDecimal.ZERO;
    }

    private TradeRiskMix mix() {
        FaultyLines.Shares shares = shares();
        int corrections = TradeRiskMix.BENCHMARK.corrections();
        BigDecimal most = BigDecimal.valueOf(100)
                .subtract(BigDecimal.valueOf(corrections, 4))
                .stripTrailingZeros();
        BigDecimal all = duplicates().add(late()).add(poison);
        if (all.compareTo(most) > 0) {
            throw CommandFailure.usage("--duplicates, --late and --poison are at most " + most.toPlainString()
                    + " % together, because the rest of the records are corrections; not " + all.toPlainString()
                    + " %.");
        }
        return new TradeRiskMix(corrections, shares.duplicates(), shares.late(), 0, shares.poison());
    }

    private FaultyLines.Shares shares() {
        return new FaultyLines.Shares(
                share("--duplicates", duplicates()), share("--late", late()), share("--poison", poison));
    }

    private static int share(String option, BigDecimal percent) {
        try {
            return TradeRiskMix.ofMillion(percent);
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(option + " " + refused.getMessage());
        }
    }

    private String loadText(Pipeline pipeline) {
        String what = !input.isEmpty()
                ? "the lines of " + String.join(", ", input)
                : pipeline.fold() instanceof Batching ? "messages of a burst" : "trade-risk messages";
        return what + ", " + duplicates().toPlainString() + " % of them duplicates, " + late().toPlainString()
                + " % late and " + poison.toPlainString() + " % poison";
    }

    private TrialLoad load(TrialPipeline tried, TrialSettings settings, Path folder) throws IOException {
        Pipeline pipeline = tried.pipeline();
        if (pipeline.input().identity() instanceof Identity.ByMessage && !input.isEmpty()) {
            throw CommandFailure.usage("With 'id: message' a record is named by its stream, so nothing on this"
                    + " machine can say what is right for it. Give the records an id of their own.");
        }
        long most = settings.amount().records();
        if (pipeline.fold() instanceof Batching) {
            requireAtMost(MEMBERS_MAX, most);
            return new TrialLoad(messages(pipeline, most), new BatchOracle(pipeline));
        }
        if (tried.function().isPresent()) {
            requireAtMost(STEPS_MAX, most);
            if (input.isEmpty()) {
                throw CommandFailure.usage("A trial makes no records for a function: give some with --input FILE.");
            }
        }
        if (!input.isEmpty()) {
            return new TrialLoad(files(pipeline), new EmbeddedOracle(tried, folder));
        }
        requireTradeRisk(pipeline);
        TradeRiskMix mix = mix();
        try {
            TradeRiskLoad trades = new TradeRiskLoad(mix, most, seed);
            return new TrialLoad(Lines.of(trades), Oracle.of(trades));
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        }
    }

    private static void requireAtMost(long max, long most) {
        if (most > max) {
            throw CommandFailure.usage("The producer of batches, or for a function, remembers its records: they are at"
                    + " most " + Words.count(max) + "; not " + Words.count(most) + ", which --rate and --minutes make."
                    + " Give --records.");
        }
    }

    private Lines files(Pipeline pipeline) throws IOException {
        FaultyLines.Shares shares = shares();
        return new FaultyLines(Lines.of(caller, pipeline, input), shares, seed);
    }

    private Lines messages(Pipeline pipeline, long most) throws IOException {
        if (!input.isEmpty()) {
            return files(pipeline);
        }
        boolean isMade = pipeline.input().format() instanceof Input.Format.Json
                && pipeline.input().identity().equals(MESSAGE_ID);
        if (!isMade) {
            throw CommandFailure.usage("A trial makes messages for batches of JSON with the id 'id', such as"
                    + " examples/bursts. Pipeline " + pipeline.name()
                    + " reads others: give records for it with --input"
                    + " FILE.");
        }
        FaultyLines.Shares shares = shares();
        BurstLoad burst = new BurstLoad(most, shares.duplicates(), seed); // It repeats any earlier one.
        return new FaultyLines(Lines.of(burst), new FaultyLines.Shares(0, shares.late(), shares.poison()), seed);
    }

    private static void requireTradeRisk(Pipeline pipeline) {
        Pipeline made = switch (PipelineText.read(TradeRiskLoad.PIPELINE)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused ->
                throw new IllegalStateException(refused.problems().getFirst().message());
        };
        boolean isMade = made.fold().equals(pipeline.fold())
                && made.input().identity().equals(pipeline.input().identity())
                && made.input().format().equals(pipeline.input().format())
                && pipeline.input().filter() == null;
        if (!isMade) {
            throw CommandFailure.usage("A trial makes records for the pipeline of examples/trade-risk: key TradeID,"
                    + " version Version, its three levels, and the measures value and trades. Pipeline "
                    + pipeline.name() + " is another one: give records for it with --input FILE.");
        }
    }
}
