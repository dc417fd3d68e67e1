package dev.onefold.cli.aws;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.resync.AwsSync;
import dev.onefold.aws.store.OtherTable;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.Endpoint;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.verbs.Verbs;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.sqs.Queue;
import java.net.URI;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// `onefold aws`: the verbs of the embedded engine, on deployed tables.
@Command(
        name = "aws",
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "Writes what is to be deployed on AWS, and does the same verbs on what is.",
            "Credentials and region are found as every AWS tool finds them."
        },
        footer = {
            "  What to deploy:",
            "    onefold aws template trade-risk.yaml > template.yaml",
            "  Totals, one consistent cut:",
            "    onefold aws query trade-risk.yaml --region eu-central-1",
            "  Two deployments of one pipeline:",
            "    onefold aws query trade-risk.yaml --deployment risk-test --profile test",
            "  Batches that are not delivered, and why:",
            "    onefold aws batches orders.yaml list"
        })
public final class AwsCommand implements Runnable {
    @Option(
            names = "--deployment",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "What the names of the tables begin with. Default: the name of the pipeline.")
    private @Nullable String deployment;

    @Mixin
    private final PlaceOptions place;

    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    private final Caller caller;

    private AwsCommand(Caller caller, @Nullable String deployment, PlaceOptions place) {
        this.caller = caller;
        this.deployment = deployment;
        this.place = place;
    }

    /// A deployed pipeline, for a verb that is not below this command.
    ///
    /// @param takesBatches whether the verb is for batch pipelines, too
    /// @param deployment its name; empty if that is the name of the pipeline
    public static EngineArgument deployed(
            Caller caller, boolean takesBatches, String pipeline, String deployment, PlaceOptions place) {
        AwsCommand aws = new AwsCommand(caller, deployment.isEmpty() ? null : deployment, place);
        return new DeployedPipeline(caller, aws, takesBatches, pipeline);
    }

    /// The command with its verbs.
    public static CommandLine commandLine(Caller caller) {
        AwsCommand aws = new AwsCommand(caller, null, new PlaceOptions());
        Verbs verbs = new Verbs(name -> new DeployedPipeline(caller, aws, Verbs.takesBatches(name)), aws.place);
        CommandLine commands = new CommandLine(aws)
                .addSubcommand(new TemplateCommand(caller))
                .addSubcommand(new PackageCommand(caller))
                .addSubcommand(new ProduceCommand(caller, aws))
                .addSubcommand(new ReplayCommand(caller, aws))
                .addSubcommand(verbs.command("seed"))
                .addSubcommand(new RestoredCommand(caller, aws))
                .addSubcommand(new PublishCommand(caller, aws));
        verbs.names().forEach(name -> commands.addSubcommand(verbs.command(name)));
        return commands.addSubcommand(verbs.command("batches"));
    }

    /// The pipeline of a file.
    ///
    /// @throws CommandFailure if it cannot be read, or its kind cannot be on AWS
    public static Pipeline pipeline(Caller caller, String file) {
        Pipeline pipeline = PipelineArgument.read(caller, file);
        requirePossible(pipeline);
        return pipeline;
    }

    static void requirePossible(Pipeline pipeline) {
        try {
            AwsEngine.requireFoldPossible(pipeline);
        } catch (IllegalArgumentException refused) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(refused.getMessage()), refused);
        }
    }

    /// The name of the deployment, with which the names of its parts begin.
    public String deployment(String pipeline) {
        return deployment == null ? pipeline : deployment;
    }

    /// Where the tables are.
    public Connection.Place place() {
        return place.place();
    }

    /// The streams, at AWS or where the option says.
    KinesisAsyncClient kinesis(@Nullable URI at) {
        return reached("Kinesis", () -> answering(Connection.kinesis(place().at(at))));
    }

    /// A queue, where its URL says.
    SqsAsyncClient queue(Queue queue) {
        return reached("Queue " + queue.name(), () -> answering(queue.client(place().profile())));
    }

    /// The change streams of tables, where the tables are.
    DynamoDbStreamsAsyncClient changes() {
        return reached("DynamoDB Streams", () -> answering(Connection.changes(place())));
    }

    private <T> T reached(String what, Supplier<T> part) {
        try {
            T reached = part.get();
            Connection.requireCredentials(place()); // Without them requests would be repeated for a minute.
            return reached;
        } catch (SdkException e) {
            throw unreachable(what, e);
        }
    }

    /// A part that cannot be asked.
    ///
    /// @param what its name; of a deployment its tables may be missing
    public static CommandFailure unreachable(String what, Exception e) {
        String place = "\nSay where it is with --deployment, --region and --profile";
        String message = e instanceof ResourceNotFoundException
                ? what + " is not there: this account and region have no tables of it." + place + "."
                : what + " cannot be reached: " + Reason.of(e) + place + ", and check the credentials.";
        return new CommandFailure(ExitCode.DIRECTORY, message, e);
    }

    /// The tables of the deployment of a pipeline.
    public Store store(String pipeline) {
        String name = deployment(pipeline);
        return reached("Deployment " + name, () -> {
            Store store = Connection.store(Store.Tables.of(name), place());
            answering(store.client());
            return store;
        });
    }

    /// Refuses a client whose address, by option or environment, nothing answers at.
    public <C extends SdkClient> C answering(C client) {
        client.serviceClientConfiguration()
                .endpointOverride()
                .ifPresent(address -> new Endpoint(address).require(caller));
        return client;
    }

    /// The engine of the deployment of a pipeline with totals or tables.
    AwsEngine engine(String pipeline, Store store) {
        return opened(pipeline, () -> AwsEngine.deployed(store).syncing(way(pipeline)));
    }

    private AwsSync.Way way(String pipeline) {
        String name = deployment(pipeline);
        return new AwsSync.Way(
                PipelineArgument.base(caller).resolve("aws-" + name + "-seeds"),
                () -> kinesis(place.comparing().kinesis()),
                this::changes,
                () -> RetryQueues.compared(caller, this, name, place.comparing().retries()));
    }

    /// The engine of a deployment.
    ///
    /// @param definition the pipeline in the pipeline file; `null` if only the name is known
    Engine engine(String pipeline, Store store, @Nullable Pipeline definition) {
        return opened(pipeline, () -> {
            boolean isBatch = definition == null
                    ? BatchDefinition.find(store).isPresent()
                    : definition.fold() instanceof Batching;
            return isBatch ? AwsBatchEngine.deployed(store) : engine(pipeline, store);
        });
    }

    private <E extends Engine> E opened(String pipeline, Supplier<E> engine) {
        try {
            return engine.get();
        } catch (OtherTable e) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(e.getMessage()), e);
        } catch (SdkException | IllegalStateException e) {
            throw unreachable("Deployment " + deployment(pipeline), e);
        }
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
