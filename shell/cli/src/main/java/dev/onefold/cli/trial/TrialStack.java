package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.deploy.Buckets;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.deploy.Stacks;
import dev.onefold.cli.run.StopRequest;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.cloudformation.model.AlreadyExistsException;
import software.amazon.awssdk.services.cloudformation.model.Capability;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackResource;
import software.amazon.awssdk.services.cloudformation.model.Tag;

/// The stack of one trial, and the bucket of its code. The bucket's name has a random part, and the stack
/// names the bucket: that is how the trial knows what it has made, also when an answer was lost.
final class TrialStack {
    private static final int MARK_BYTES = 6;
    private static final String CODE_KEY = "functions.zip";
    private static final String MADE = "CREATE_COMPLETE";
    private static final String UNDER_WAY = "CREATE_IN_PROGRESS";
    private static final String GONE = "DELETE_COMPLETE";
    private static final String BUCKET = "AWS::S3::Bucket";
    private static final int TRIES_MAX = 4;
    private static final int POLLS_EACH_EMPTYING = 5;
    private static final Duration DELETING_MAX = Duration.ofMinutes(30);

    private final Stacks stacks;
    private final Buckets buckets;
    private final String name;
    private final String bucket;
    private final Duration poll;
    private final Consumer<String> said;
    private boolean begun;

    /// @param bucket the bucket of its code; empty if there is no stack
    /// @param poll pause between two looks at a stack that is being made or deleted
    /// @param said takes reports on the progress
    TrialStack(Services services, String name, String bucket, Duration poll, Consumer<String> said) {
        stacks = new Stacks(services.stacks());
        buckets = new Buckets(services.objects());
        this.name = name;
        this.bucket = bucket;
        this.poll = poll;
        this.said = said;
    }

    /// The name of a bucket for the code of a new trial.
    static String newBucket(String trial) {
        byte[] mark = new byte[MARK_BYTES];
        new SecureRandom().nextBytes(mark);
        return Buckets.name(trial, HexFormat.of().formatHex(mark));
    }

    /// Makes all of it, and waits until it is there.
    ///
    /// @return the stack's outputs
    Map<String, String> make(Path archive, String template, Map<String, String> parameters, StopRequest stop) {
        requireFree();
        stop.check();
        begun = true;
        try {
            said.accept("Making the bucket " + bucket + ", and uploading the functions");
            buckets.make(bucket);
            stop.check();
            buckets.put(bucket, CODE_KEY, archive);
            stop.check();
            Map<String, String> all = new TreeMap<>(parameters);
            all.put(Stacks.CODE_BUCKET, bucket);
            all.put("CodeKey", CODE_KEY);
            create(template, all);
            return made(stop);
        } catch (AlreadyExistsException e) {
            throw (CommandFailure) taken(name).initCause(e);
        } catch (SdkException e) {
            throw new CommandFailure(ExitCode.DIRECTORY, "The stack cannot be made: " + Reason.of(e), e);
        }
    }

    /// Begins to make the stack. A stack that fails is left as it is, so that the reason can be read. The
    /// bucket is the token that makes a repeated request the same one.
    private void create(String template, Map<String, String> parameters) {
        Buckets.TemplateText text = buckets.template(bucket, template);
        Connection.THREADS.await(stacks.client()
                .createStack(request -> request.stackName(name)
                        .templateBody(text.body())
                        .templateURL(text.url())
                        .parameters(Stacks.given(parameters))
                        .capabilities(Capability.CAPABILITY_IAM)
                        .onFailure(OnFailure.DO_NOTHING)
                        .tags(Tag.builder().key(Stacks.TRIAL_TAG).value(name).build())
                        .clientRequestToken(bucket)));
    }

    /// Whether a trial of this name has made a stack. Both must say so: a tag is soon copied.
    static boolean isOf(String trial, Stack stack) {
        return Buckets.isOf(trial, Stacks.codeBucket(stack))
                && stack.tags().stream()
                        .anyMatch(tag -> tag.key().equals(Stacks.TRIAL_TAG)
                                && tag.value().equals(trial));
    }

    /// Whether something may have been made, also if no answer came.
    boolean isBegun() {
        return begun;
    }

    String bucket() {
        return bucket;
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

    private Map<String, String> made(StopRequest stop) {
        while (true) {
            stop.check();
            Stack stack = stacks.find(name)
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.DIFFERENT, "Stack " + name + " was deleted while it was made."));
            String status = stack.stackStatusAsString();
            if (status.equals(MADE)) {
                return Stacks.outputs(stack);
            }
            List<StackResource> resources = stacks.resources(name);
            if (!status.equals(UNDER_WAY)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Stack " + name + " cannot be made; it is " + status + ". " + reason(stack, resources));
            }
            long done = resources.stream()
                    .filter(each -> each.resourceStatusAsString().equals(MADE))
                    .count();
            said.accept("Making the stack " + name + ": " + done + " of its resources are there");
            stop.pause(poll);
        }
    }

    private static String reason(Stack stack, List<StackResource> resources) {
        return resources.stream()
                .filter(each -> each.resourceStatusAsString().equals("CREATE_FAILED"))
                .filter(each -> !String.valueOf(each.resourceStatusReason()).contains("cancelled"))
                .findFirst()
                .map(each -> each.resourceType() + " " + each.logicalResourceId() + ": " + each.resourceStatusReason())
                .orElse(String.valueOf(stack.stackStatusReason()));
    }

    /// Deletes the stack with its content, then buckets of code. A request to stop does not interrupt that. A
    /// resource that was deleted before is not a failure, so a removal can be repeated at any time. A stack
    /// whose code comes from another bucket is of another trial, and stays.
    ///
    /// @param step the step, as the reports on its progress begin
    /// @return the parts that could not be deleted, with the reasons
    List<String> remove(String step, List<String> codeBuckets) {
        said.accept(step);
        List<String> left = new ArrayList<>(removeStack(step));
        for (String each : codeBuckets) {
            attempt("Bucket " + each, () -> buckets.remove(each)).ifPresent(left::add);
        }
        return left;
    }

    private List<String> removeStack(String step) {
        List<String> left = new ArrayList<>();
        for (int tries = 1; tries <= TRIES_MAX; tries++) {
            left.clear();
            attempt(
                            "Stack " + name,
                            () -> stacks.find(name)
                                    .filter(found -> Stacks.codeBucket(found).equals(bucket))
                                    .ifPresent(found -> left.addAll(removeOnce(step, found))))
                    .ifPresent(left::add);
            if (left.isEmpty()) {
                break;
            }
            Connection.THREADS.pause(poll);
        }
        return left;
    }

    /// Deletes a stack once, and returns the reasons why parts of it are left; empty if it is gone. Its buckets
    /// are emptied repeatedly, because only an empty bucket can be deleted, and functions may write until they
    /// are gone.
    private List<String> removeOnce(String step, Stack stack) {
        String id = stack.stackId();
        List<StackResource> resources = stacks.resources(id);
        List<String> filled = resources.stream()
                .filter(resource -> resource.resourceType().equals(BUCKET) && resource.physicalResourceId() != null)
                .map(StackResource::physicalResourceId)
                .toList();
        filled.forEach(buckets::empty);
        Connection.THREADS.await(stacks.client().deleteStack(request -> request.stackName(id)));
        long deadline = System.nanoTime() + DELETING_MAX.toNanos();
        for (int polls = 1; ; polls++) {
            Connection.THREADS.pause(poll);
            Optional<Stack> now = stacks.find(id);
            if (now.isEmpty()) {
                return List.of();
            }
            List<StackResource> there = stacks.resources(id).stream()
                    .filter(resource -> !GONE.equals(resource.resourceStatusAsString()))
                    .toList();
            said.accept(step + ": " + there.size() + " of " + resources.size() + " resources are left");
            if (!now.get().stackStatusAsString().equals("DELETE_IN_PROGRESS") || System.nanoTime() > deadline) {
                return reasons(now.get(), there);
            }
            if (polls % POLLS_EACH_EMPTYING == 0) {
                filled.forEach(buckets::empty);
            }
        }
    }

    private static List<String> reasons(Stack stack, List<StackResource> there) {
        List<String> reasons = new ArrayList<>(List.of("Stack " + stack.stackName() + " is "
                + stack.stackStatusAsString() + because(stack.stackStatusReason())));
        for (StackResource resource : there) {
            String physical = resource.physicalResourceId();
            reasons.add(resource.resourceType() + " " + resource.logicalResourceId()
                    + (physical == null ? "" : " (" + physical + ")") + because(resource.resourceStatusReason()));
        }
        return reasons;
    }

    private static String because(@Nullable String reason) {
        return reason == null || reason.isEmpty() ? "" : ": " + reason;
    }

    /// The reason, if something fails.
    private static Optional<String> attempt(String what, Runnable action) {
        try {
            action.run();
            return Optional.empty();
        } catch (RuntimeException e) { // The rest must be tried all the same, and what is left must be said.
            return Optional.of(what + ": " + Reason.of(e));
        }
    }
}
