package dev.onefold.cli.trial;

import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.Questions;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Buckets;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.deploy.Stacks;
import dev.onefold.cli.show.Words;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.cloudformation.model.Stack;

/// `onefold aws clean`: deletes what a trial has left.
@Command(
        name = "clean",
        description = {
            "Deletes what 'onefold aws trial' has left, with --keep or because it was killed: the stack with its tables"
                    + " and buckets, all versions of what is in them, and the bucket of its code.",
            "A stack that no trial has made is refused."
        },
        footer = {"    onefold aws clean trade-risk-trial --region eu-central-1"})
public final class CleanCommand implements Callable<Integer> {
    private static final Duration POLL = Duration.ofSeconds(2);

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "NAME", description = "The name of the trial, which is that of its stack.")
    private String name = "";

    @Option(
            names = {"-y", "--yes"},
            description = "Deletes without asking.")
    private boolean yes;

    /// @param aws says where
    public CleanCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException {
        Board board = new Board(caller);
        try (Services services = Services.at(aws, aws.place())) {
            Optional<Stack> stack = new Stacks(services.stacks()).find(name);
            if (stack.isPresent() && !TrialStack.isOf(name, stack.get())) {
                throw CommandFailure.usage("Stack " + name + " was not made by a trial: it does not have the tag "
                        + Stacks.TRIAL_TAG + "=" + name
                        + ", or its code does not come from a bucket of one. Nothing was"
                        + " deleted. 'aws cloudformation delete-stack' deletes it.");
            }
            List<String> buckets = new Buckets(services.objects()).of(name);
            if (stack.isEmpty() && buckets.isEmpty()) {
                board.say("There is nothing of a trial " + name + " here.");
                return ExitCode.DONE.code();
            }
            String what = stack.map(found -> "the stack " + Stacks.said(found) + " with all that is in it, and ")
                            .orElse("")
                    + Words.count(buckets.size(), "bucket") + " of code";
            if (!yes) {
                board.say("Deletes " + what + ".");
                Questions.require(caller, "Delete all of it?", "Nothing was deleted.");
            }
            // A trial that somebody begins meanwhile has another bucket, and stays.
            String bucket = stack.map(Stacks::codeBucket).orElse("");
            return delete(board, services, buckets, bucket).code();
        } catch (SdkException e) {
            throw new CommandFailure(ExitCode.DIRECTORY, "A service failed: " + Reason.of(e), e);
        }
    }

    private ExitCode delete(Board board, Services services, List<String> buckets, String bucket) {
        List<String> left =
                new TrialStack(services, name, bucket, POLL, board::step).remove("Deleting " + name, buckets);
        if (left.isEmpty()) {
            board.say("All of " + name + " is deleted.");
            return ExitCode.DONE;
        }
        board.sayLeft(left);
        return ExitCode.DIFFERENT;
    }
}
