package dev.onefold.cli.reset;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.aws.RetryQueues;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.data.Questions;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Publishing;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/// `onefold aws reset`: empties a deployment for the next run.
@Command(
        name = "reset",
        description = {
            "Empties a deployment, so that its totals begin with nothing.",
            "It says first what will be deleted and what follows from that, and asks. It deletes rows, totals, deltas,"
                    + " dead letters with their records, and the positions in the queues for retries. The stack and the records in the stream stay.",
            "The functions need not be stopped: until the reset is done they are refused, and what they had begun before"
                    + " is never written. If the command is stopped, the deployment stays closed until it is run again."
                    + " A deployment of a pipeline with batches, or with a function (process), is not emptied: deploy it"
                    + " under another name."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  Count what the stream still has once more:",
            "    onefold aws reset trade-risk.yaml --yes",
            "    onefold aws replay trade-risk.yaml --from 2026-11-21T08:00:00Z"
        })
public final class DeployedResetCommand implements Callable<Integer> {
    /// How long SQS may take to delete the messages of a queue.
    private static final Duration PURGE_MAX = Duration.ofSeconds(60);
    private static final Duration PURGE_PAUSE = Duration.ofSeconds(1);

    private static final Duration PUBLISHING_MAX = Duration.ofMinutes(2);

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(
            index = "0",
            paramLabel = "PIPELINE",
            description = "The pipeline file; or the name of a pipeline that is deployed.")
    private String pipeline = "";

    @Option(
            names = {"-y", "--yes"},
            description = "Does not ask.")
    private boolean yes;

    @Option(
            names = "--retries",
            paramLabel = "URL",
            description = "A queue of positions that is purged, too; may be repeated. Default: the queues Retries and"
                    + " RetriesAside of the stack of this name.")
    private List<String> retries = List.of();

    /// @param aws says where
    public DeployedResetCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException {
        Pipeline definition = definition();
        String name = definition == null ? pipeline : definition.name();
        Store store = aws.store(name);
        String deployment = aws.deployment(name);
        try {
            requireNoBatches(definition, store, deployment);
            Reset.pipeline(store)
                    .ifPresent(deployed -> requireEmptiable(deployed, definition != null, name, deployment));
            List<Reset.Table> tables = Reset.look(store);
            if (tables.isEmpty()) {
                caller.printLine("Deployment " + deployment + " holds no definition, because no record has come yet; so"
                        + " there was nothing to delete.");
                return ExitCode.DONE.code();
            }
            List<RetryQueue> queues = queues(deployment);
            try {
                return reset(definition, store, tables, queues).code();
            } finally {
                queues.forEach(RetryQueue::close);
            }
        } catch (ResourceNotFoundException e) {
            throw AwsCommand.unreachable("Deployment " + deployment, e);
        } catch (SdkException | IllegalStateException failure) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Deployment " + deployment + " was not emptied to the end: " + Reason.of(failure)
                            + "\nRun it again: if it is closed, it stays so until then.",
                    failure);
        }
    }

    private @Nullable Pipeline definition() {
        return PipelineArgument.readOrNamed(caller, pipeline);
    }

    /// The numbers of batches would be given again, while deliveries may be under way.
    private static void requireNoBatches(@Nullable Pipeline definition, Store store, String deployment) {
        boolean isBatch = definition != null && definition.fold() instanceof Batching;
        if (isBatch || BatchDefinition.find(store).isPresent()) {
            throw CommandFailure.usage(
                    "Deployment " + deployment + " makes batches, and is not emptied: it would give the"
                            + " numbers of batches again that its receiver has. Deploy the pipeline under another name,"
                            + " with a place of its own for its receiver, and delete this stack.");
        }
    }

    /// A name alone may be that of the deployment.
    private static void requireEmptiable(Pipeline deployed, boolean isFile, String name, String deployment) {
        if (!deployed.name().equals(name) && (isFile || !name.equals(deployment))) {
            throw CommandFailure.usage("Deployment " + deployment + " is of pipeline " + deployed.name() + ", not of "
                    + name + ", and nothing was deleted. Name the deployment with --deployment, or give the file of"
                    + " pipeline " + deployed.name() + ".");
        }
        if (deployed.fold() instanceof Processing) {
            throw CommandFailure.usage("Deployment " + deployment + " is of a pipeline with a function (process), and"
                    + " is not emptied: the number of an event that is kept for its key would be given again, and a"
                    + " delete of before that comes late could take the new one. Deploy the pipeline under another"
                    + " name, with a stack of its own, and delete this stack.");
        }
    }

    private List<RetryQueue> queues(String deployment) {
        if (!retries.isEmpty()) {
            return retries.stream().map(url -> RetryQueues.of(aws, url)).toList();
        }
        if (aws.place().endpoint() != null) {
            caller.note("DynamoDB is not at AWS, so the queues for retries are not looked for; --retries names them.");
            return List.of();
        }
        try {
            return RetryQueues.all(aws, deployment);
        } catch (SdkException e) {
            caller.note("The queues for retries cannot be looked for, so they are not purged: " + Reason.of(e)
                    + "\n--retries names them.");
            return List.of();
        }
    }

    private ExitCode reset(
            @Nullable Pipeline definition, Store store, List<Reset.Table> tables, List<RetryQueue> queues)
            throws IOException {
        String name = definition == null ? pipeline : definition.name();
        DeployedResetText text = new DeployedResetText(name, aws.deployment(name), tables, queues);
        Questions.ask(
                caller,
                text.announcement(Reset.isUnderWay(store), definition == null ? null : definition.publishing()),
                "Delete all of it?",
                yes);
        long deleted;
        try (Progress progress =
                Progress.begin(caller, Progress.Mode.auto, "Deleting", Progress.Unit.RECORDS, text.items())) {
            deleted = Reset.run(store, check -> purge(store, queues, check), count -> progress.at(count, count));
        }
        caller.printLine("Emptied deployment " + aws.deployment(name) + ": " + Words.count(deleted, "item")
                + " deleted. Its totals begin with nothing.");
        if (definition != null && definition.publishing() instanceof Publishing.Items items) {
            publish(store, items);
        }
        return ExitCode.DONE;
    }

    /// Positions of before would be read once the deployment is open. How many there are is said about only, so none is
    /// taken for empty.
    private void purge(Store store, List<RetryQueue> queues, Runnable check) {
        for (RetryQueue queue : queues) {
            check.run();
            while (!queue.purge()) {
                store.threads().pause(PURGE_PAUSE);
                check.run();
            }
        }
        if (!queues.isEmpty() && aws.place().endpoint() == null) {
            store.threads().pause(PURGE_MAX);
        }
    }

    private void publish(Store store, Publishing.Items items) {
        try {
            new Publication(store, items).step(PUBLISHING_MAX, true);
            caller.printLine("The published table " + items.table() + " has the new totals.");
        } catch (SdkException | IllegalStateException e) {
            caller.note("The published table " + items.table() + " has the totals of before: " + Reason.of(e)
                    + "\n'onefold aws publish --again' brings it to the new ones.");
        }
    }
}
