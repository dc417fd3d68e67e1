package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.aws.FunctionArchive;
import dev.onefold.cli.aws.TemplateOptions;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.Questions;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.lambda.LambdaAsyncClient;

/// `onefold aws deploy`: a deployment, or an update of one, by one command.
@Command(
        name = "deploy",
        description = {
            "Deploys a pipeline, or updates its deployment: finds or makes a bucket, uploads the functions, compares the"
                    + " account's quotas, makes or updates the stack, waits, and says what has changed.",
            "It can be stopped and run again at any time. The stack has the name of the deployment."
        },
        footer = {
            "  onefold aws deploy trade-risk.yaml --region eu-central-1",
            "  onefold aws deploy trade-risk.yaml --parameter StateMemory=3538",
            "  onefold aws deploy favourites.yaml --input table --parameter InputStreamArn=…",
            "  onefold aws deploy orders.yaml --with driver.jar --yes"
        })
public final class DeployCommand implements Callable<Integer> {
    private static final Duration POLL = Duration.ofSeconds(3);
    private static final List<String> OWN_PARAMETERS = List.of(Stacks.CODE_BUCKET, Stacks.CODE_KEY);
    private static final String NAME = "[a-zA-Z][-a-zA-Z0-9]{0,127}";
    private static final String BUCKET = "(?![0-9.]+$)(?!.*[.][.])[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]";

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String file = "";

    @Mixin
    private final TemplateOptions options = new TemplateOptions();

    @Option(
            names = "--parameter",
            paramLabel = "NAME=VALUE",
            description =
                    "A parameter of the template; it may be given several times. Of a deployment that is there the"
                            + " others keep their values.")
    private List<String> parameters = List.of();

    @Option(
            names = "--bucket",
            paramLabel = "BUCKET",
            description = "The bucket for the functions. Default: that of the deployment, or a new one.")
    private @Nullable String bucket;

    @Option(
            names = "--with",
            paramLabel = "JAR",
            description =
                    "A jar to add to the functions, such as a database's driver; it may be given several times. The"
                            + " jar that the pipeline file names is added anyway.")
    private List<String> with = List.of();

    @Option(
            names = "--archive",
            paramLabel = "FILE",
            description = "The archive of the functions, as 'onefold aws package' writes it. Default: one of this"
                    + " program.")
    private @Nullable String archive;

    @Option(
            names = {"-y", "--yes"},
            description = "Begins without asking.")
    private boolean yes;

    /// @param aws says where
    public DeployCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException {
        TemplateOptions.Written template = template();
        Map<String, String> given = given(template.parameters());
        if (bucket != null && !bucket.matches(BUCKET)) {
            throw CommandFailure.usage("The name of a bucket is 3 to 63 small letters, digits, . and -, and no address;"
                    + " not '" + bucket + "'.");
        }
        String name = aws.deployment(template.pipeline().name());
        if (!name.matches(NAME)) {
            throw CommandFailure.usage(
                    "The name of a stack is a letter, then letters, digits and -, at most 128 in all;" + " not " + name
                            + ". Give one with --deployment.");
        }
        requireArchive();
        StopRequest stop = new StopRequest();
        Board board = new Board(caller);
        try (Workplace workplace = Workplace.temporary("onefold-deploy");
                Services services = Services.at(aws, aws.place())) {
            Rollout.Plan plan = new Rollout.Plan(
                    name,
                    template,
                    archive(workplace.folder(), template.pipeline()),
                    given,
                    Optional.ofNullable(bucket));
            Rollout rollout = new Rollout(plan, services, board, stop, POLL);
            rollout.look();
            requireValues(template.yaml(), rollout.parameters());
            board.say(rollout.announcement());
            boolean makesStream = template.yaml().contains("AWS::Kinesis::Stream\n");
            checkQuotas(board, services, new Quotas(rollout.parameters(), makesStream, rollout.isNew()));
            if (!yes) {
                Questions.require(caller, "Deploy it?", "Nothing was made or changed.");
            }
            stop.makeOnSignals();
            stop.makeOnHangup();
            return rollout.run().code();
        } catch (StopRequest.Stopped stopped) {
            board.endStep();
            caller.note("Stopped. What was begun goes on at AWS: the same command waits for it, and does the rest.");
            return stop.exitCodeUnfinished().code();
        } catch (SdkException e) {
            board.endStep();
            throw new CommandFailure(
                    ExitCode.DIRECTORY, "A service failed: " + Reason.of(e) + "\nThe same command goes on.", e);
        }
    }

    private TemplateOptions.Written template() {
        try {
            return options.written(caller, file, false);
        } catch (IllegalArgumentException refused) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(refused.getMessage()), refused);
        }
    }

    /// The parameters that were given, by name.
    private Map<String, String> given(List<String> known) {
        Map<String, String> given = new TreeMap<>();
        for (String each : parameters) {
            int end = each.indexOf('=');
            if (end < 1) {
                throw CommandFailure.usage("'--parameter " + each + "' is not of the form NAME=VALUE.");
            }
            String name = each.substring(0, end);
            if (OWN_PARAMETERS.contains(name)) {
                throw CommandFailure.usage("'onefold aws deploy' sets the parameter " + name + " itself.");
            }
            if (!known.contains(name)) {
                throw CommandFailure.usage("The template has no parameter " + name + "."
                        + NearestWord.nearest(name, known)
                                .map(meant -> " Did you mean " + meant + "?")
                                .orElse(""));
            }
            if (given.put(name, each.substring(end + 1)) != null) {
                throw CommandFailure.usage("The parameter " + name + " is given twice.");
            }
        }
        return given;
    }

    private static void requireValues(String template, Map<String, String> given) {
        Map<String, String> all = new TreeMap<>(given);
        OWN_PARAMETERS.forEach(own -> all.put(own, "own")); // A name of ours fits.
        new TemplateValues(template, all).problem().ifPresent(problem -> {
            throw CommandFailure.usage(problem + " Nothing was made or changed.");
        });
    }

    private void requireArchive() throws IOException {
        if (archive == null) {
            return;
        }
        try (ZipFile zip = new ZipFile(InputFile.ofBytes(caller, archive).toFile())) {
            if (zip.size() > 0) {
                return;
            }
        } catch (ZipException _) {
            // It is refused below.
        }
        throw CommandFailure.usage(archive + " is not an archive of functions, as 'onefold aws package' writes it.");
    }

    private void checkQuotas(Board board, Services services, Quotas quotas) {
        Connection.Place place = services.place();
        try (LambdaAsyncClient functions = Connection.service(LambdaAsyncClient.builder(), place);
                DynamoDbAsyncClient tables = Connection.tables(place)) {
            List<Quotas.Finding> findings = quotas.findings(functions, tables, services.streams());
            findings.forEach(finding -> board.say(finding.text()));
            if (findings.stream().anyMatch(Quotas.Finding::isTooLow)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT, "A quota of the account is too low. Nothing was made or changed.");
            }
        }
    }

    private Path archive(Path folder, Pipeline pipeline) throws IOException {
        if (archive != null) {
            return InputFile.ofBytes(caller, archive);
        }
        return FunctionArchive.made(caller, file, pipeline, with, folder);
    }
}
