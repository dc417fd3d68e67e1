package dev.onefold.cli.aws;

import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.show.Words;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/// `onefold aws compared`: what the function that compares has found.
@Command(
        name = "compared",
        description = {
            "Says what the function Compare of a deployment has found, which 'onefold aws template --compare' adds.",
            "The exit code is 1 if rows still differ, or if the last comparison failed. Which rows differ is named by"
                    + " 'onefold aws verify --against'. It reads one item."
        },
        footerHeading = "%nExample:%n",
        footer = {"  ${COMMAND-FULL-NAME} favourites.yaml"})
final class ComparedCommand implements Callable<Integer> {
    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file, or the name of the pipeline.")
    private String pipeline = "";

    @Option(names = "--again", description = "Lets the function begin a comparison when it is woken next.")
    private boolean isAgain;

    ComparedCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() {
        String name = PipelineArgument.isFile(caller, pipeline)
                ? AwsCommand.pipeline(caller, pipeline).name()
                : pipeline;
        Store store = aws.store(name);
        try {
            Comparison comparison = Comparison.find(store)
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.DIRECTORY,
                            "No function compares the rows of deployment " + aws.deployment(name)
                                    + ", or it has not looked yet. 'onefold aws template --compare' adds one."));
            caller.print(text(store, comparison));
            if (isAgain) {
                caller.printLine(
                        Comparison.begin(store)
                                ? "The function begins another one when it is woken next."
                                : "One is under way, so none was begun.");
            }
            return isFine(comparison) ? ExitCode.DONE.code() : ExitCode.DIFFERENT.code();
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "Deployment " + aws.deployment(name) + " cannot be reached: " + AwsCommand.why(e),
                    e);
        }
    }

    private static boolean isFine(Comparison comparison) {
        Comparison.Result last = comparison.last();
        return comparison.failure().isEmpty() && (last == null || last.tally().left() == 0);
    }

    private static String text(Store store, Comparison comparison) {
        StringBuilder text = new StringBuilder();
        Comparison.Result last = comparison.last();
        String source = comparison.of().source();
        if (last == null) {
            text.append("No comparison with ").append(source).append(" has come to its end since ");
            text.append(Words.time(comparison.since())).append(".\n");
        } else {
            Tally tally = last.tally();
            text.append("Compared with ").append(source).append(" until ").append(Words.time(last.ended()));
            text.append(": ").append(Words.count(tally.rows(), "row")).append(", read ");
            text.append(tally.readings() == 1 ? "once" : tally.readings() + " times")
                    .append(".\n");
            text.append(tally.drifted() == 0 ? "All rows were equal.\n" : "");
            tally.lines().forEach(line -> text.append("  ").append(line).append('\n'));
            line(text, "without a readable key", tally.withoutKey());
            line(text, "perhaps expired", tally.expired());
            line(text, "changed meanwhile", tally.moved());
        }
        if (!comparison.failure().isEmpty()) {
            text.append("The last comparison failed: ")
                    .append(Words.visible(comparison.failure()))
                    .append(".\n");
        }
        if (comparison.isUnderWay()) {
            text.append("One is under way").append(comparison.isRunning(store) ? ".\n" : "; it goes on soon.\n");
        } else {
            Instant next = comparison.next();
            text.append("The next one begins at ").append(Words.time(next)).append(" or soon after that.\n");
        }
        if (last != null && last.tally().heldBack() > 0) {
            text.append("The source lacks more than a tenth of the rows, so the function removes none. If they are to"
                            + " go, run\n'onefold aws verify --against ")
                    .append(source)
                    .append(" --repair --remove-many'.\n");
        } else if (last != null && last.tally().left() > 0) {
            text.append("'onefold aws verify --against ")
                    .append(source)
                    .append("' names the rows that still differ.\n");
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String name, long count) {
        if (count > 0) {
            text.append("  ").append(name).append(": ").append(count).append('\n');
        }
    }
}
