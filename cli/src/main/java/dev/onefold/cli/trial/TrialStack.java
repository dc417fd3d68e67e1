package dev.onefold.cli.trial;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.cloudformation.model.AlreadyExistsException;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackResource;

/// The stack of one trial, and the bucket of its code. The bucket's name has a random part, and the stack names the
/// bucket: that is how the trial knows what it has made, also when an answer was lost.
final class TrialStack {
    private static final int MARK_BYTES = 6;
    private static final String CODE_KEY = "functions.zip";
    private static final String MADE = "CREATE_COMPLETE";
    private static final String UNDER_WAY = "CREATE_IN_PROGRESS";

    private final Services services;
    private final Stacks stacks;
    private final Buckets buckets;
    private final String name;
    private final String bucket;
    private final Duration poll;
    private boolean begun;

    /// Nothing is made yet.
    ///
    /// @param poll between two looks at a stack that is made or deleted
    TrialStack(Services services, String name, Duration poll) {
        this.services = services;
        this.name = name;
        this.poll = poll;
        stacks = new Stacks(services.stacks());
        buckets = new Buckets(services.objects());
        byte[] mark = new byte[MARK_BYTES];
        new SecureRandom().nextBytes(mark);
        bucket = Buckets.name(name, HexFormat.of().formatHex(mark));
    }

    String bucket() {
        return bucket;
    }

    /// Makes all of it, and waits until it is there.
    ///
    /// @param said is told how far it is
    /// @return the stack's outputs
    Map<String, String> make(
            Path archive, String template, Map<String, String> parameters, Signals signals, Consumer<String> said) {
        requireFree();
        signals.check();
        begun = true;
        try {
            said.accept("Making the bucket " + bucket + ", and uploading the functions");
            buckets.make(bucket);
            signals.check();
            buckets.put(bucket, CODE_KEY, archive);
            signals.check();
            Map<String, String> all = new TreeMap<>(parameters);
            all.put(Stacks.CODE_BUCKET, bucket);
            all.put("CodeKey", CODE_KEY);
            stacks.create(name, template, all, bucket);
            return made(signals, said);
        } catch (AlreadyExistsException e) {
            throw (CommandFailure) taken(name).initCause(e);
        } catch (SdkException e) {
            throw new CommandFailure(ExitCode.DIRECTORY, "The stack cannot be made: " + Reason.of(e), e);
        }
    }

    /// Whether something may have been made, also if no answer came.
    boolean isBegun() {
        return begun;
    }

    private void requireFree() {
        try {
            stacks.find(name).ifPresent(stack -> {
                throw taken(Stacks.said(stack));
            });
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY, "CloudFormation cannot be asked: " + Reason.of(e) + "\nNothing was made.", e);
        }
    }

    private CommandFailure taken(String stack) {
        return new CommandFailure(
                ExitCode.DIRECTORY,
                "There is a stack called " + stack + " already. Delete it with 'onefold aws clean " + name
                        + "' if it is of an earlier trial of yours, or give this one another name with --deployment."
                        + (begun ? "" : " Nothing was made."));
    }

    private Map<String, String> made(Signals signals, Consumer<String> said) {
        while (true) {
            signals.check();
            Stack stack = stacks.find(name)
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.DIFFERENT, "Stack " + name + " was deleted while it was made."));
            if (stack.stackStatusAsString().equals(MADE)) {
                return Stacks.outputs(stack);
            }
            List<StackResource> resources = stacks.resources(name);
            if (!stack.stackStatusAsString().equals(UNDER_WAY)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Stack " + name + " cannot be made; it is " + stack.stackStatusAsString() + ". "
                                + reason(stack, resources));
            }
            long done = resources.stream()
                    .filter(each -> each.resourceStatusAsString().equals(MADE))
                    .count();
            said.accept("Making the stack " + name + ": " + done + " of its resources are there");
            signals.pause(poll);
        }
    }

    private static String reason(Stack stack, List<StackResource> resources) {
        Optional<StackResource> failed = resources.stream()
                .filter(each -> each.resourceStatusAsString().equals("CREATE_FAILED"))
                .filter(each -> !String.valueOf(each.resourceStatusReason()).contains("cancelled"))
                .findFirst();
        return failed.map(each ->
                        each.resourceType() + " " + each.logicalResourceId() + ": " + each.resourceStatusReason())
                .orElse(String.valueOf(stack.stackStatusReason()));
    }

    /// Deletes all that was made.
    ///
    /// @return what could not be deleted, and why
    List<String> remove(Consumer<String> said) {
        return new Removal(services, poll, said).remove(name, List.of(bucket), bucket::equals);
    }
}
