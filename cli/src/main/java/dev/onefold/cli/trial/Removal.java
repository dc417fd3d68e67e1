package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackResource;

/// Deletes the resources of a trial: its stack with its content, then the bucket of its code. A request to stop
/// does not interrupt the removal. A resource that was deleted before is not a failure, so a removal can be
/// repeated at any time.
///
/// @param poll pause between two looks at a stack that is being deleted
/// @param said takes reports on the progress
record Removal(Services services, Duration poll, Consumer<String> said) {
    private static final int TRIES_MAX = 4;
    private static final int POLLS_EACH_EMPTYING = 5;
    private static final Duration STACK_MAX = Duration.ofMinutes(30);
    private static final String BUCKET = "AWS::S3::Bucket";
    private static final String GONE = "DELETE_COMPLETE";

    private Stacks stacks() {
        return new Stacks(services.stacks());
    }

    private Buckets buckets() {
        return new Buckets(services.objects());
    }

    /// Deletes the stack of a trial, and its buckets.
    ///
    /// @param isOurs whether a bucket of this name was made for the code of the trial
    /// @return what could not be deleted, and why; empty if nothing is left
    List<String> remove(String trial, List<String> codeBuckets, Predicate<String> isOurs) {
        List<String> left = new ArrayList<>(removeStack(trial, isOurs));
        for (String bucket : codeBuckets) {
            attempt("Bucket " + bucket, () -> buckets().remove(bucket)).ifPresent(left::add);
        }
        return left;
    }

    private List<String> removeStack(String trial, Predicate<String> isOurs) {
        List<String> left = new ArrayList<>();
        for (int tries = 1; tries <= TRIES_MAX; tries++) {
            left.clear();
            Optional<String> failure = attempt("Stack " + trial, () -> {
                Optional<Stack> found = stacks().find(trial);
                if (found.isPresent() && isOurs.test(Stacks.codeBucket(found.get()))) {
                    left.addAll(removeOnce(found.get()));
                }
            });
            failure.ifPresent(left::add);
            if (left.isEmpty()) {
                return List.of();
            }
            Connection.THREADS.pause(poll);
        }
        return List.copyOf(left);
    }

    /// Deletes a stack once, and returns the reasons why parts of it are left; empty if it is gone. Its buckets
    /// are emptied repeatedly, because only an empty bucket can be deleted, and functions may write until they
    /// are gone.
    private List<String> removeOnce(Stack stack) {
        String id = stack.stackId();
        List<StackResource> resources = stacks().resources(id);
        List<String> filled = resources.stream()
                .filter(resource -> resource.resourceType().equals(BUCKET) && resource.physicalResourceId() != null)
                .map(StackResource::physicalResourceId)
                .toList();
        filled.forEach(buckets()::empty);
        stacks().delete(id);
        long deadline = System.nanoTime() + STACK_MAX.toNanos();
        for (int polls = 1; ; polls++) {
            Connection.THREADS.pause(poll);
            Optional<Stack> now = stacks().find(id);
            if (now.isEmpty()) {
                return List.of();
            }
            List<StackResource> there = stacks().resources(id).stream()
                    .filter(resource -> !GONE.equals(resource.resourceStatusAsString()))
                    .toList();
            said.accept(there.size() + " of " + resources.size() + " resources are left");
            boolean isUnderWay = now.get().stackStatusAsString().equals("DELETE_IN_PROGRESS");
            if (!isUnderWay || System.nanoTime() > deadline) {
                return reasons(now.get(), there);
            }
            if (polls % POLLS_EACH_EMPTYING == 0) {
                filled.forEach(buckets()::empty);
            }
        }
    }

    private static List<String> reasons(Stack stack, List<StackResource> there) {
        List<String> reasons =
                new ArrayList<>(List.of("Stack " + stack.stackName() + " is " + stack.stackStatusAsString()
                        + (stack.stackStatusReason() == null ? "" : ": " + stack.stackStatusReason())));
        for (StackResource resource : there) {
            String why = resource.resourceStatusReason();
            reasons.add(resource.resourceType() + " " + resource.logicalResourceId()
                    + (resource.physicalResourceId() == null ? "" : " (" + resource.physicalResourceId() + ")")
                    + (why == null || why.isEmpty() ? "" : ": " + why));
        }
        return reasons;
    }

    /// The reason, if something fails.
    private static Optional<String> attempt(String what, Runnable action) {
        try {
            action.run();
            return Optional.empty();
        } catch (RuntimeException e) { // Whatever it is, the rest must be tried, and what is left must be said.
            return Optional.of(what + ": " + Reason.of(e));
        }
    }
}
