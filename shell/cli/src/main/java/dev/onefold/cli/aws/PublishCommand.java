package dev.onefold.cli.aws;

import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/// `onefold aws publish`: brings the published table to the totals.
@Command(
        name = "publish",
        description = {
            "Brings the published table of a deployment to its totals, as the function Publish does by itself.",
            "With --again it compares all items, also where the table says that it has all: after somebody has changed"
                    + " items by hand. It works beside the function, and may be stopped and run again. A table that"
                    + " holds something else is refused."
        },
        footerHeading = "%nExample:%n",
        footer = {"  ${COMMAND-FULL-NAME} favourites.yaml --again"})
final class PublishCommand implements Callable<Integer> {
    /// If it is killed, the function waits for as long.
    private static final Duration MOST = Duration.ofMinutes(2);

    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Option(names = "--again", description = "Compares all items with the totals, and writes those that differ.")
    private boolean isAgain;

    PublishCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() {
        Pipeline definition = AwsCommand.pipeline(caller, pipeline);
        if (!(definition.publishing() instanceof Publishing.Items items)) {
            throw CommandFailure.usage("Pipeline " + definition.name() + " publishes to no table of DynamoDB: write"
                    + " 'publish: {table: NAME}'.");
        }
        Store store = aws.store(definition.name());
        try {
            caller.printLine(
                    switch (outcome(store, new Publication(store, items))) {
                        case Outcome.Nothing _ -> "There is nothing new for the table " + items.table() + ".";
                        case Outcome.Busy _ ->
                            throw new CommandFailure(
                                    ExitCode.DIFFERENT,
                                    "Others have published to the table " + items.table() + " for " + MOST.toMinutes()
                                            + " minutes. Run it again.");
                        case Outcome.Published published ->
                            "Cut " + published.cut() + " is published. Of " + Words.count(published.items(), "item")
                                    + " " + Words.count(published.written()) + " were different and are written, and "
                                    + Words.count(published.removed()) + " others are removed.";
                    });
            return ExitCode.DONE.code();
        } catch (SdkException | IllegalStateException failure) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The table " + items.table() + " was not brought to the totals: " + Reason.of(failure),
                    failure);
        }
    }

    /// Waits for its turn.
    private Outcome outcome(Store store, Publication publication) {
        Instant end = store.clock().instant().plus(MOST);
        while (true) {
            Outcome outcome = publication.step(MOST, isAgain);
            if (!(outcome instanceof Outcome.Busy) || store.clock().instant().isAfter(end)) {
                return outcome;
            }
            store.threads().pause(PAUSE);
        }
    }
}
