package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import dev.onefold.cli.aws.TemplateOptions;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import software.amazon.awssdk.services.cloudformation.model.Capability;
import software.amazon.awssdk.services.cloudformation.model.CloudFormationException;
import software.amazon.awssdk.services.cloudformation.model.Parameter;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;

/// One deployment of a pipeline: the bucket is found or made, the archive is uploaded under its hash, and the
/// stack is made or updated and watched. It may stop anywhere, and the same command goes on:
///
///     bucket     has the deployment's name, or is the one that the stack names; so it is found again
///     archive    its name is its hash: it is there whole, or is uploaded
///     stack      CloudFormation works on without us; a stack on which it works is waited for
///
/// Is not thread-safe.
final class Rollout {
    private static final String BUCKET = "onefold-code-";
    private static final int BUCKET_NAME_CHARACTERS = 36;
    private static final int MARK_BYTES = 6;
    private static final int HASH_CHARACTERS = 16;
    private static final String STACK = "AWS::CloudFormation::Stack";
    private static final String IN_PROGRESS = "_IN_PROGRESS";
    private static final String CHANGE_SET_ALONE = "REVIEW_IN_PROGRESS";
    private static final String MADE = "CREATE_COMPLETE";
    private static final String NEVER_MADE = "ROLLBACK_COMPLETE";
    private static final Set<String> UPDATABLE = Set.of(MADE, "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE");
    private static final Set<String> SECRET = Set.of("ReceiverSecret");

    private final Plan plan;
    private final Services services;
    private final Stacks stacks;
    private final Buckets buckets;
    private final Board board;
    private final StopRequest stop;
    private final Duration poll;
    private final String code;
    private Optional<Stack> stack = Optional.empty();
    private String bucket = "";
    private boolean isBucketThere;
    private String token = ""; // Of the request by which this command changes the stack.

    /// What is to be deployed.
    ///
    /// @param name of the stack
    /// @param parameters that were given
    /// @param bucket that was given
    record Plan(
            String name,
            TemplateOptions.Written template,
            Path archive,
            Map<String, String> parameters,
            Optional<String> bucket) {}

    /// @param poll pause between two looks at a stack
    Rollout(Plan plan, Services services, Board board, StopRequest stop, Duration poll) throws IOException {
        this.plan = plan;
        this.services = services;
        this.board = board;
        this.stop = stop;
        this.poll = poll;
        stacks = new Stacks(services.stacks());
        buckets = new Buckets(services.objects());
        code = "functions-" + Sha256.hex(Files.readAllBytes(plan.archive)).substring(0, HASH_CHARACTERS) + ".zip";
    }

    /// Looks at what is there, and changes nothing. A stack that is being made or changed is waited for.
    ///
    /// @throws CommandFailure if the stack is not to be changed by this command
    void look() {
        stack = stacks.find(plan.name);
        stack.ifPresent(this::requireOurs);
        while (stack.isPresent() && isUnderWay(stack.get())) {
            stop.check();
            board.step("Waiting for the stack " + Stacks.said(stack.get()));
            stop.pause(poll);
            stack = stacks.find(plan.name);
            stack.ifPresent(this::requireOurs); // It may be another one by now.
        }
        stack.ifPresent(Rollout::requireChangeable);
        bucket = plan.bucket.orElseGet(() -> stack.map(Stacks::codeBucket).orElse(""));
        if (bucket.isEmpty()) {
            String prefix = bucketPrefix();
            bucket = buckets.named(prefix, region()).stream()
                    .filter(name -> name.matches(prefix + "[0-9a-f]{" + 2 * MARK_BYTES + "}"))
                    .findFirst()
                    .orElse("");
        }
        isBucketThere = !bucket.isEmpty() && buckets.isThere(bucket);
        if (bucket.isEmpty()) {
            byte[] mark = new byte[MARK_BYTES];
            new SecureRandom().nextBytes(mark);
            bucket = bucketPrefix() + HexFormat.of().formatHex(mark);
        }
    }

    /// Whether CloudFormation works on a stack. A change set alone waits for its owner.
    private static boolean isUnderWay(Stack found) {
        String status = found.stackStatusAsString();
        return status.endsWith(IN_PROGRESS) && !status.equals(CHANGE_SET_ALONE);
    }

    private String region() {
        return services.stacks().serviceClientConfiguration().region().id();
    }

    private String bucketPrefix() {
        String name = plan.name.toLowerCase(Locale.ROOT);
        return BUCKET + name.substring(0, Math.min(name.length(), BUCKET_NAME_CHARACTERS)) + "-";
    }

    private void requireOurs(Stack found) {
        String pipeline = plan.template.pipeline().name();
        String description = found.description() == null ? "without a description" : found.description();
        boolean isOurs = description.startsWith("Onefold: ") && description.contains(" of pipeline " + pipeline + ",");
        boolean isTrial = found.tags().stream().anyMatch(tag -> tag.key().equals(Stacks.TRIAL_TAG));
        if (!isOurs || isTrial) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "There is a stack " + Stacks.said(found)
                            + (isTrial
                                    ? " of a trial"
                                    : " that is not of pipeline " + pipeline + " (" + description + ")")
                            + ". Nothing was changed. Give this deployment another name with --deployment.");
        }
    }

    private static void requireChangeable(Stack found) {
        String status = found.stackStatusAsString();
        if (UPDATABLE.contains(status) || status.equals(NEVER_MADE)) {
            return;
        }
        String advice = status.equals("UPDATE_ROLLBACK_FAILED")
                ? "Mend what its events name, then run 'aws cloudformation continue-update-rollback --stack-name "
                        + found.stackName() + "'."
                : "See its events, and delete it: 'aws cloudformation delete-stack --stack-name " + found.stackName()
                        + "'. What holds data stays.";
        throw new CommandFailure(
                ExitCode.DIFFERENT,
                "The stack " + Stacks.said(found) + " cannot be updated. Nothing was changed. " + advice);
    }

    /// Whether the stack is to be made.
    boolean isNew() {
        return stack.isEmpty() || stack.get().stackStatusAsString().equals(NEVER_MADE);
    }

    /// The parameters that the stack will have, as far as they are no defaults.
    Map<String, String> parameters() {
        Map<String, String> all = new TreeMap<>();
        if (!isNew()) {
            all.putAll(Stacks.parameters(stack.orElseThrow()));
            all.keySet().retainAll(plan.template.parameters());
        }
        all.putAll(plan.parameters);
        return all;
    }

    /// What will be done, in lines.
    String announcement() throws IOException {
        String what =
                isNew() ? "Makes the stack " + plan.name : "Updates the stack " + Stacks.said(stack.orElseThrow());
        StringBuilder text = new StringBuilder(what)
                .append(" in ")
                .append(region())
                .append(" for pipeline ")
                .append(plan.template.pipeline().name())
                .append(".\nCode: ")
                .append(Words.bytes(Files.size(plan.archive)))
                .append(" as ")
                .append(code)
                .append(isBucketThere ? " in the bucket " : " in a new bucket, ")
                .append(bucket)
                .append('.');
        if (!plan.parameters.isEmpty()) {
            List<String> given = new ArrayList<>();
            plan.parameters.forEach((name, value) -> given.add(name + "=" + (SECRET.contains(name) ? "…" : value)));
            text.append("\nParameters: ").append(String.join(", ", given)).append('.');
        }
        return text.toString();
    }

    /// Does it.
    ExitCode run() {
        upload();
        if (stack.isPresent() && isNew()) {
            deleteNeverMade(stack.get());
        }
        stop.check();
        String last = isNew() ? "" : lastEvent(stack.orElseThrow().stackId());
        String id;
        try {
            id = isNew() ? create() : update();
        } catch (CloudFormationException e) {
            String message = String.valueOf(e.getMessage());
            if (message.contains("No updates are to be performed")) {
                board.say("Nothing has changed: the stack " + plan.name + " is as the file says.");
                return ExitCode.DONE;
            }
            if (!message.contains(IN_PROGRESS + " state")) {
                throw e;
            }
            id = plan.name;
            if (stacks.events(id, last).stream().noneMatch(event -> token.equals(event.clientRequestToken()))) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Somebody else changes the stack " + plan.name
                                + " now. This command has not changed it. The same command waits for it.");
            }
        }
        return report(watched(id, last));
    }

    private void upload() {
        stop.check();
        if (!isBucketThere) {
            board.step("Making the bucket " + bucket);
            buckets.make(bucket);
        }
        stop.check();
        if (!buckets.isThere(bucket, code)) {
            board.step("Uploading the functions");
            buckets.put(bucket, code, plan.archive);
        }
    }

    /// A stack whose making was rolled back holds nothing, and cannot be updated.
    private void deleteNeverMade(Stack old) {
        board.step("Deleting what is left of the stack that could not be made");
        Connection.THREADS.await(services.stacks().deleteStack(request -> request.stackName(old.stackId())));
        stack = stacks.find(old.stackId());
        while (stack.isPresent() && isUnderWay(stack.get())) {
            stop.check();
            stop.pause(poll);
            stack = stacks.find(old.stackId());
        }
        stack.ifPresent(Rollout::requireChangeable);
    }

    private String lastEvent(String id) {
        List<StackEvent> events = stacks.events(id, "");
        return events.isEmpty() ? "" : events.getLast().eventId();
    }

    private String create() {
        Map<String, String> given = new TreeMap<>(plan.parameters);
        given.put(Stacks.CODE_BUCKET, bucket);
        given.put(Stacks.CODE_KEY, code);
        token = UUID.randomUUID().toString();
        Buckets.TemplateText text = buckets.template(bucket, plan.template.yaml());
        return Connection.THREADS
                .await(services.stacks()
                        .createStack(request -> request.stackName(plan.name)
                                .templateBody(text.body())
                                .templateURL(text.url())
                                .parameters(Stacks.given(given))
                                .capabilities(Capability.CAPABILITY_IAM)
                                .clientRequestToken(token)))
                .stackId();
    }

    private String update() {
        Map<String, String> given = new TreeMap<>(plan.parameters);
        given.put(Stacks.CODE_BUCKET, bucket);
        given.put(Stacks.CODE_KEY, code);
        List<Parameter> parameters = new ArrayList<>(Stacks.given(given));
        Set<String> kept =
                new LinkedHashSet<>(Stacks.parameters(stack.orElseThrow()).keySet());
        kept.retainAll(plan.template.parameters());
        kept.removeAll(given.keySet());
        kept.forEach(name -> parameters.add(
                Parameter.builder().parameterKey(name).usePreviousValue(true).build()));
        token = UUID.randomUUID().toString();
        Buckets.TemplateText text = buckets.template(bucket, plan.template.yaml());
        return Connection.THREADS
                .await(services.stacks()
                        .updateStack(request -> request.stackName(plan.name)
                                .templateBody(text.body())
                                .templateURL(text.url())
                                .parameters(parameters)
                                .capabilities(Capability.CAPABILITY_IAM)
                                .clientRequestToken(token)))
                .stackId();
    }

    /// The end of this command's change.
    ///
    /// @param stack as it is now: somebody else may change it again already
    /// @param status that it had then
    /// @param events of this change
    private record Ended(Stack stack, String status, List<StackEvent> events) {}

    private Ended watched(String id, String last) {
        while (true) {
            Stack now = stacks.find(id)
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.DIFFERENT, "The stack " + plan.name + " was deleted while it was waited for."));
            List<StackEvent> events = stacks.events(now.stackId(), last).stream()
                    .filter(event -> event.clientRequestToken() == null || token.equals(event.clientRequestToken()))
                    .toList();
            Optional<String> status = events.stream()
                    .filter(event -> event.resourceType().equals(STACK) && event.clientRequestToken() != null)
                    .map(StackEvent::resourceStatusAsString)
                    .reduce((_, later) -> later)
                    .filter(each -> each.endsWith("_COMPLETE"));
            if (status.isPresent() || !isUnderWay(now)) {
                return new Ended(now, status.orElse(now.stackStatusAsString()), events);
            }
            stop.check();
            long done = changes(events).values().stream().mapToLong(Set::size).sum();
            String current = events.isEmpty() ? "" : ", now " + events.getLast().logicalResourceId();
            board.step((isNew() ? "Making" : "Updating") + " the stack " + plan.name + ": "
                    + Words.count(done, "resource") + " done" + current);
            stop.pause(poll);
        }
    }

    /// What became of the resources, by what was done with them.
    private static Map<String, Set<String>> changes(List<StackEvent> events) {
        Set<String> made = new LinkedHashSet<>();
        Set<String> changed = new LinkedHashSet<>();
        Set<String> replaced = new LinkedHashSet<>();
        Set<String> removed = new LinkedHashSet<>();
        for (StackEvent event : events) {
            String name = event.logicalResourceId();
            if (event.resourceType().equals(STACK)) {
                continue;
            }
            switch (event.resourceStatusAsString()) {
                case "CREATE_COMPLETE" -> made.add(name);
                case "UPDATE_COMPLETE" -> changed.add(name);
                case "DELETE_COMPLETE" -> {
                    boolean isThere = made.remove(name) || changed.remove(name);
                    (isThere ? replaced : removed).add(name);
                }
                default -> {}
            }
        }
        Map<String, Set<String>> changes = new LinkedHashMap<>();
        changes.put("made", made);
        changes.put("changed", changed);
        changes.put("replaced", replaced);
        changes.put("removed", removed);
        return changes;
    }

    private ExitCode report(Ended ended) {
        Stack done = ended.stack;
        String status = ended.status;
        if (!status.equals(MADE) && !status.equals("UPDATE_COMPLETE")) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The stack " + plan.name + (isNew() ? " cannot be made. " : " cannot be updated. ")
                            + reason(done, ended.events) + "\n" + consequence(status));
        }
        List<String> lines = new ArrayList<>();
        changes(ended.events).forEach((kind, names) -> {
            if (!names.isEmpty()) {
                lines.add(Words.count(names.size(), "resource") + " " + kind
                        + (isNew() ? "." : ": " + String.join(", ", names) + "."));
            }
        });
        board.say("The stack " + Stacks.said(done) + " is deployed.\n" + String.join("\n", lines));
        Stacks.outputs(done).forEach((name, value) -> board.say("  " + name + "  " + value));
        return ExitCode.DONE;
    }

    private static String reason(Stack done, List<StackEvent> events) {
        return events.stream()
                .filter(event -> event.resourceStatusAsString().endsWith("_FAILED")
                        && !event.resourceType().equals(STACK)
                        && !String.valueOf(event.resourceStatusReason()).contains("cancelled"))
                .findFirst()
                .map(event ->
                        event.resourceType() + " " + event.logicalResourceId() + ": " + event.resourceStatusReason())
                .orElse(String.valueOf(done.stackStatusReason()));
    }

    private static String consequence(String status) {
        return switch (status) {
            case NEVER_MADE ->
                "What was made of it is deleted again. Run the same command when the cause is gone: it deletes the empty"
                        + " stack first.";
            case "UPDATE_ROLLBACK_COMPLETE" -> "All of it is as it was before, and goes on.";
            default -> "It is " + status + ".";
        };
    }
}
