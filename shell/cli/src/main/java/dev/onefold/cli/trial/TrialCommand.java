package dev.onefold.cli.trial;

import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.aws.FunctionArchive;
import dev.onefold.cli.aws.FunctionJars;
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
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
            "Tries a pipeline on AWS, with one command: makes a stack, puts records into it at a rate, shows the"
                    + " producer's totals and the engine's side by side, compares them at the end, says what it has"
                    + " cost, and deletes all that it has made, also after Ctrl-C.",
            "It says what it will make and what that costs, and asks, before it begins.",
            "It makes records for the pipeline of examples/trade-risk, with or without its delete condition. For"
                    + " another pipeline with totals give records with --input; what is right for them is what the"
                    + " embedded engine makes of them, on this machine.",
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
            "  Records of your own:",
            "    onefold aws trial orders.yaml --input orders.ndjson --rate 500",
            "  What --keep has left, or a killed trial:",
            "    onefold aws clean trade-risk-trial"
        })
public final class TrialCommand implements Callable<Integer> {
    private static final String NAME = "[a-z][a-z0-9-]{0,35}";
    private static final long RATE_MAX = 100_000;
    private static final long MINUTES_MAX = 24 * 60;

    private static final Set<String> OWN_PARAMETERS =
            Set.of("CodeBucket", "CodeKey", "DeletionProtection", "ParallelizationFactor");

    /// The stand-in for DynamoDB takes its time for each gate that a new deployment writes.
    private static final Map<String, String> LOCAL_PARAMETERS = Map.of("Gates", "64");

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
            description = "Of the records that are made: one of the last 1,000 again. Default: ${DEFAULT-VALUE}.")
    private BigDecimal duplicates = BigDecimal.valueOf(5);

    @Option(
            names = "--late",
            paramLabel = "%",
            description = "Of the records that are made: an older version, after a newer one. Default:"
                    + " ${DEFAULT-VALUE}.")
    private BigDecimal late = BigDecimal.valueOf(5);

    @Option(names = "--seed", paramLabel = "S", description = "Where chance begins. Default: ${DEFAULT-VALUE}.")
    private long seed = 42;

    @Option(
            names = "--fail-state",
            paramLabel = "%",
            description = "Of the invocations of State, those that fail on purpose: half of them before they write"
                    + " anything, half after all of it. Default: ${DEFAULT-VALUE}.")
    private BigDecimal failState = BigDecimal.ZERO;

    @Option(names = "--fail-reduce", paramLabel = "%", description = "The same of Reduce. Default: ${DEFAULT-VALUE}.")
    private BigDecimal failReduce = BigDecimal.ZERO;

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
        Pipeline pipeline = PipelineArgument.read(caller, file);
        Template template = template(pipeline);
        requireParameters(template.parameters());
        TrialSettings settings = settings(pipeline);
        Board board = new Board(caller);
        try (Workplace workplace = Workplace.temporary("onefold-trial");
                TrialLoad load = load(pipeline, settings, workplace.folder().resolve("right"))) {
            Path functions = archive(workplace.folder());
            board.say(settings.announcement(loadText()));
            if (!yes) {
                Questions.require(caller, "Begin?", "Nothing was made.");
            }
            StopRequest stop = new StopRequest();
            stop.makeOnSignals();
            stop.makeOnHangup();
            Trial.Code code = new Trial.Code(functions, template.deletableYaml());
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

    private Path archive(Path folder) throws IOException {
        if (archive != null) {
            return InputFile.ofBytes(caller, archive);
        }
        Path made = folder.resolve("functions.zip");
        FunctionArchive.write(FunctionJars.find(), made);
        return made;
    }

    private static Template template(Pipeline pipeline) {
        if (!(pipeline.fold() instanceof Rollups)) {
            throw CommandFailure.usage("A trial compares totals, and pipeline " + pipeline.name()
                    + (pipeline.fold() instanceof Batching ? " makes batches" : " folds by a function")
                    + ". Try it on one machine with 'onefold test', or deploy it as docs/aws.md says.");
        }
        try {
            // A published table has the name that the pipeline gives it, and might be in use.
            return Template.of(pipeline.unpublished(), Input.NEW_STREAM);
        } catch (IllegalArgumentException refused) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(refused.getMessage()), refused);
        }
    }

    private TrialSettings settings(Pipeline pipeline) {
        String name = aws.deployment(pipeline.name() + "-trial");
        if (!name.matches(NAME)) {
            throw CommandFailure.usage("The name of a trial is part of a bucket's name: a small letter, then small"
                    + " letters, digits and -, 36 characters at most. Give one with --deployment; not " + name + ".");
        }
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
        share("--fail-state", failState);
        share("--fail-reduce", failReduce);
        Map<String, String> all = new TreeMap<>(local ? LOCAL_PARAMETERS : Map.of());
        all.putAll(parameters);
        Duration time = Duration.ofMinutes(minutes);
        long most = Math.min(rate * time.toSeconds(), records == null ? Long.MAX_VALUE : records);
        return new TrialSettings(
                name, pipeline, new TrialSettings.Amount(rate, time, most), failState, failReduce, all, keep, local);
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

    private TradeRiskMix mix() {
        int corrections = TradeRiskMix.BENCHMARK.corrections();
        int repeated = share("--duplicates", duplicates);
        int older = share("--late", late);
        BigDecimal most = BigDecimal.valueOf(100)
                .subtract(BigDecimal.valueOf(corrections, 4))
                .stripTrailingZeros();
        BigDecimal both = duplicates.add(late);
        if (both.compareTo(most) > 0) {
            throw CommandFailure.usage("--duplicates and --late are at most " + most.toPlainString()
                    + " % together, because the rest of the records are corrections; not " + both.toPlainString()
                    + " %.");
        }
        return new TradeRiskMix(corrections, repeated, older, 0, 0);
    }

    private static int share(String option, BigDecimal percent) {
        try {
            return TradeRiskMix.ofMillion(percent);
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(option + " " + refused.getMessage());
        }
    }

    private String loadText() {
        return input.isEmpty()
                ? "trade-risk messages, " + duplicates.toPlainString() + " % of them duplicates and "
                        + late.toPlainString() + " % late"
                : "the lines of " + String.join(", ", input);
    }

    private TrialLoad load(Pipeline pipeline, TrialSettings settings, Path folder) throws IOException {
        if (!input.isEmpty()) {
            if (pipeline.input().identity() instanceof Identity.ByMessage) {
                throw CommandFailure.usage("With 'id: message' a record is named by its stream, so nothing on this"
                        + " machine can say what is right for it. Give the records an id of their own.");
            }
            return new FileLoad(caller, pipeline, input, folder);
        }
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
        TradeRiskMix mix = mix();
        try {
            return new TrialLoad.Trades(mix, settings.amount().records(), seed);
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        }
    }
}
