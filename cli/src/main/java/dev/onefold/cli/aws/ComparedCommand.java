package dev.onefold.cli.aws;

import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.show.Words;
import java.time.Duration;
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
            "The exit code is 1 if rows still differ, if the last comparison failed, if none has come to its end yet, or"
                    + " if one was due two hours ago and has not begun. Which rows differ is named by"
                    + " 'onefold aws verify --against'. It reads one item."
        },
        footerHeading = "%nExample:%n",
        footer = {"  ${COMMAND-FULL-NAME} favourites.yaml"})
final class ComparedCommand implements Callable<Integer> {
    /// Longer than two wake-ups are apart.
    private static final Duration LATE = Duration.ofHours(2);

    /// A comparison that takes longer does not come to its end.
    private static final Duration LONG = Duration.ofDays(2);

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
            boolean begins = isAgain && Comparison.begin(store);
            Comparison now = begins ? Comparison.find(store).orElse(comparison) : comparison;
            caller.print(new Text(Words.visible(pipeline), now, store.clock().instant()).text());
            if (isAgain && !begins) {
                caller.printLine("One is under way, so none was begun.");
            }
            return isFine(now, store.clock().instant()) ? ExitCode.DONE.code() : ExitCode.DIFFERENT.code();
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "Deployment " + aws.deployment(name) + " cannot be reached: " + Reason.of(e),
                    e);
        }
    }

    /// Whether the rows were compared as they should be, and none differs.
    private static boolean isFine(Comparison comparison, Instant at) {
        Comparison.Result last = comparison.last();
        return comparison.failure().isEmpty() && last != null && last.tally().left() == 0 && !isLate(comparison, at);
    }

    private static boolean isLate(Comparison comparison, Instant at) {
        boolean isDueAtOnce = comparison.next().equals(Instant.EPOCH); // Since other settings, or the first wake-up.
        if (comparison.isUnderWay()) {
            Instant due = isDueAtOnce ? comparison.since() : comparison.next();
            return due.plus(LONG).isBefore(at);
        }
        return !isDueAtOnce && comparison.next().plus(LATE).isBefore(at);
    }

    /// The report on a comparison, as text.
    ///
    /// @param pipeline the name of the pipeline, as the caller writes it
    private record Text(String pipeline, Comparison comparison, Instant at) {
        String text() {
            StringBuilder text = new StringBuilder();
            Comparison.Result last = comparison.last();
            String source = comparison.of().source();
            if (last == null) {
                text.append("No comparison with ").append(source).append(" has come to its end since ");
                text.append(Words.time(comparison.since())).append(".\n");
            } else {
                text.append("Compared with ").append(source).append(" until ").append(Words.time(last.ended()));
                append(text, last.tally());
            }
            if (!comparison.failure().isEmpty()) {
                text.append("The last comparison failed: ")
                        .append(Words.visible(comparison.failure()))
                        .append(".\n");
            }
            text.append(next());
            if (last != null) {
                appendAdvice(text, last.tally());
            }
            return text.toString();
        }

        private static void append(StringBuilder text, Tally tally) {
            text.append(": ").append(Words.count(tally.rows(), "row")).append(", read ");
            text.append(tally.readings() == 1 ? "once" : tally.readings() + " times")
                    .append(".\n");
            if (tally.isClean()) {
                text.append("All rows were equal.\n");
            } else if (tally.drifted() + tally.unended() == 0) {
                text.append("All rows were equal, but for these:\n");
            }
            tally.lines().forEach(line -> text.append("  ").append(line).append('\n'));
            line(text, "without a readable key", tally.withoutKey());
            line(text, "perhaps expired", tally.expired());
            line(text, "changed meanwhile", tally.moved());
            line(text, "repairs of attempts that did not end", tally.unended());
        }

        private static void line(StringBuilder text, String name, long count) {
            if (count > 0) {
                text.append("  ").append(name).append(": ").append(count).append('\n');
            }
        }

        private String next() {
            boolean isLate = isLate(comparison, at);
            String look = " Look at the log of Compare, and whether its schedule\n(CompareTick) is enabled.\n";
            if (comparison.isUnderWay()) {
                return isLate
                        ? "One is under way, and has not come to its end for " + LONG.toDays() + " days." + look
                        : comparison.isHeld(at) ? "One is under way.\n" : "One is under way; it goes on soon.\n";
            }
            String next = Words.time(comparison.next());
            if (isLate) {
                return "The next one was due at " + next + ", and has not begun." + look;
            }
            return comparison.next().isAfter(at)
                    ? "The next one begins at " + next + " or soon after that.\n"
                    : "The next one begins when the function is woken next.\n";
        }

        private void appendAdvice(StringBuilder text, Tally tally) {
            String command = "'onefold aws verify " + pipeline + " --against "
                    + comparison.of().source();
            if (tally.heldBack() > 0) {
                text.append("The source lacks more than a tenth of the rows, so the function removes none. If they are"
                                + " to go, run\n")
                        .append(command)
                        .append(" --repair --remove-many'.\n");
            } else if (tally.left() > 0) {
                text.append(command).append("' names the rows that still differ.\n");
            }
            if (tally.explained() > 0) {
                text.append("Rows that are explained differ because a dead letter of their key waits: redrive it"
                                + " ('onefold aws dead-letters ")
                        .append(pipeline)
                        .append("'),\nand compare again.\n");
            }
        }
    }
}
