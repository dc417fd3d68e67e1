package dev.onefold.local.cloud;

import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// All stacks: one that is there, at most, and those that are gone. Any thread.
final class Stacks implements AutoCloseable {
    private static final int SUFFIX = 12;
    private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private static final List<String> UPDATABLE =
            List.of("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE");
    private static final List<String> ROLE_CAPABILITIES = List.of("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM");

    private final Ground ground;
    private final List<Entry> all = new ArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Random random = new Random();

    /// A stack with what it consists of, and the work on it that is done last.
    private static final class Entry {
        private final StackLife life;
        private final Works works;
        private CompletableFuture<Void> work = CompletableFuture.completedFuture(null);
        private String updateToken = "";

        private Entry(StackLife life, Works works) {
            this.life = life;
            this.works = works;
        }
    }

    Stacks(Ground ground) {
        this.ground = ground;
    }

    /// What a stack is to be.
    record Request(
            String name,
            String yaml,
            Map<String, String> parameters,
            List<String> capabilities,
            Map<String, String> tags,
            String onFailure,
            String token) {}

    /// Parses a template, as a check.
    static StackTemplate template(String name, String suffix, String yaml, Map<String, String> parameters) {
        try {
            StackTemplate template = new StackTemplate(Account.LOCAL, name, suffix, yaml, parameters);
            Rules.requireKnown(template);
            return template;
        } catch (IllegalArgumentException | YamlEngineException e) {
            throw Refusal.invalid(String.valueOf(e.getMessage()));
        }
    }

    /// Begins to make a stack.
    ///
    /// @return its id
    synchronized String create(Request request) {
        if (!request.name().matches("[a-zA-Z][-a-zA-Z0-9]{0,127}")) {
            throw Refusal.invalid("1 validation error detected: Value '" + request.name()
                    + "' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern:"
                    + " [a-zA-Z][-a-zA-Z0-9]*");
        }
        for (Entry entry : all) {
            if (!entry.life.isGone()) {
                String other = entry.life.order().name();
                if (other.equals(request.name())
                        && !request.token().isEmpty()
                        && request.token().equals(entry.life.order().token())) {
                    return entry.life.order().id(); // The same request, once more.
                }
                throw other.equals(request.name())
                        ? new Refusal("AlreadyExistsException", "Stack [" + other + "] already exists")
                        : new Refusal(
                                "LimitExceededException",
                                "The stand-in for CloudFormation has one stack at a time, and stack [" + other
                                        + "] is there: delete it first");
            }
        }
        StackTemplate template = template(request.name(), "-" + suffix(), request.yaml(), request.parameters());
        requireRolesAllowed(template, request);
        String id = Account.LOCAL.arn("cloudformation", "stack/" + request.name() + "/" + UUID.randomUUID());
        StackLife.Order order = new StackLife.Order(
                request.name(),
                id,
                request.yaml(),
                request.capabilities(),
                request.tags(),
                request.onFailure(),
                request.token(),
                Instant.now());
        StackLife life = new StackLife(order, template);
        Entry entry = new Entry(life, new Works(life, ground));
        life.set("CREATE_IN_PROGRESS", "User Initiated");
        all.add(entry);
        entry.work = CompletableFuture.runAsync(() -> make(entry), threads);
        return id;
    }

    /// Begins to update a stack.
    ///
    /// @return its id
    synchronized String update(Request request) {
        Entry entry = entry(request.name())
                .orElseThrow(() -> Refusal.invalid("Stack [" + request.name() + "] does not exist"));
        StackLife life = entry.life;
        StackLife.Order order = life.order();
        if (!request.token().isEmpty() && request.token().equals(entry.updateToken)) {
            return order.id(); // The same request, once more.
        }
        if (!UPDATABLE.contains(life.status())) {
            throw Refusal.invalid("Stack:" + order.id() + " is in " + life.status() + " state and can not be updated.");
        }
        StackTemplate before = life.template();
        StackTemplate after;
        try {
            after = before.updated(request.yaml(), request.parameters());
            Rules.requireKnown(after);
        } catch (IllegalArgumentException | YamlEngineException e) {
            throw Refusal.invalid(String.valueOf(e.getMessage()));
        }
        requireRolesAllowed(after, request);
        if (!Update.isAny(before, after)) {
            throw Refusal.invalid("No updates are to be performed.");
        }
        StackLife.Order next = new StackLife.Order(
                order.name(),
                order.id(),
                request.yaml(),
                request.capabilities(),
                request.tags(),
                order.onFailure(),
                "",
                order.at());
        entry.updateToken = request.token();
        life.become(next, after);
        life.set("UPDATE_IN_PROGRESS", "User Initiated");
        entry.work = CompletableFuture.runAsync(() -> update(entry, order, before, after), threads);
        return order.id();
    }

    private static void update(Entry entry, StackLife.Order order, StackTemplate before, StackTemplate after) {
        StackLife life = entry.life;
        Update update = new Update(life, entry.works, before, after);
        try {
            Optional<Works.Failure> failure = update.run();
            if (failure.isEmpty()) {
                life.set("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "");
                update.clean();
                life.setOutputs(after.outputs());
                life.set("UPDATE_COMPLETE", "");
                return;
            }
            life.set(
                    "UPDATE_ROLLBACK_IN_PROGRESS",
                    "The following resource(s) failed to update: ["
                            + failure.get().resource() + "]. ");
            Optional<Works.Failure> again = update.undo();
            if (again.isPresent()) {
                life.set(
                        "UPDATE_ROLLBACK_FAILED",
                        "The following resource(s) failed to update: ["
                                + again.get().resource() + "]. ");
                return;
            }
            life.set("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", "");
            update.cleanUndone();
            life.become(order, before);
            life.set("UPDATE_ROLLBACK_COMPLETE", "");
        } catch (RuntimeException e) { // Something that only the whole template shows.
            life.set("UPDATE_ROLLBACK_FAILED", String.valueOf(e.getMessage()));
        }
    }

    private static void requireRolesAllowed(StackTemplate template, Request request) {
        if (Rules.makesRoles(template) && request.capabilities().stream().noneMatch(ROLE_CAPABILITIES::contains)) {
            throw new Refusal("InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_IAM]");
        }
    }

    private String suffix() {
        StringBuilder suffix = new StringBuilder();
        for (int i = 0; i < SUFFIX; i++) {
            suffix.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
        }
        return suffix.toString();
    }

    private static void make(Entry entry) {
        StackLife life = entry.life;
        Optional<Works.Failure> failure;
        try {
            failure = entry.works.make();
            if (failure.isEmpty() && !life.isCancelled()) {
                life.setOutputs(life.template().outputs());
                life.set("CREATE_COMPLETE", "");
            }
        } catch (RuntimeException e) { // Something that only the whole template shows.
            life.set("CREATE_FAILED", String.valueOf(e.getMessage()));
            return;
        }
        if (failure.isEmpty() || life.isCancelled()) {
            return; // It is there, or its deletion goes on.
        }
        String reason =
                "The following resource(s) failed to create: [" + failure.get().resource() + "]. ";
        switch (life.order().onFailure()) {
            case "DO_NOTHING" -> life.set("CREATE_FAILED", reason);
            case "DELETE" -> {
                life.set("DELETE_IN_PROGRESS", reason + "Delete requested by user.");
                remove(entry, List.of(), true, "DELETE");
            }
            default -> {
                life.set("ROLLBACK_IN_PROGRESS", reason + "Rollback requested by user.");
                remove(entry, List.of(), true, "ROLLBACK");
            }
        }
    }

    /// Begins to delete a stack. Nothing happens to one that is not there.
    ///
    /// @param name its name or its id
    /// @param retained resources that are to stay, of a stack whose deletion has failed
    synchronized void delete(String name, List<String> retained) {
        Optional<Entry> found = entry(name).filter(entry -> !entry.life.isGone());
        if (found.isEmpty()) {
            return;
        }
        Entry entry = found.get();
        String status = entry.life.status();
        if (status.equals("DELETE_IN_PROGRESS")) {
            return;
        }
        if (!retained.isEmpty() && !status.equals("DELETE_FAILED")) {
            throw Refusal.invalid(
                    "Invalid operation on stack [" + entry.life.order().id()
                            + "]. ResourcesToRetain can be used only for stacks in the DELETE_FAILED state");
        }
        boolean rollback = !UPDATABLE.contains(status) && !status.equals("DELETE_FAILED");
        entry.life.cancel();
        entry.life.set("DELETE_IN_PROGRESS", "User Initiated");
        entry.work = entry.work.handleAsync(
                (_, _) -> {
                    remove(entry, retained, rollback, "DELETE");
                    return null;
                },
                threads);
    }

    private static void remove(Entry entry, List<String> retained, boolean rollback, String kind) {
        List<String> failed;
        try {
            failed = entry.works.remove(retained, rollback);
        } catch (IOException | RuntimeException e) { // What runs does not end. Whoever looks at the stack is told.
            entry.life.set(kind + "_FAILED", String.valueOf(e.getMessage()));
            return;
        }
        if (failed.isEmpty()) {
            entry.life.set(kind + "_COMPLETE", "");
        } else {
            entry.life.set(
                    kind + "_FAILED",
                    "The following resource(s) failed to delete: [" + String.join(", ", failed) + "]. ");
        }
    }

    /// A stack by its name, unless it is gone, or by its id.
    synchronized StackLife find(String name) {
        return entry(name)
                .map(entry -> entry.life)
                .orElseThrow(() -> Refusal.invalid("Stack with id " + name + " does not exist"));
    }

    private Optional<Entry> entry(String name) {
        return all.reversed().stream()
                .filter(entry -> entry.life.order().id().equals(name)
                        || (entry.life.order().name().equals(name) && !entry.life.isGone()))
                .findFirst();
    }

    /// All stacks, the latest first.
    synchronized Stream<StackLife> all() {
        return List.copyOf(all).stream()
                .map(entry -> entry.life)
                .sorted(Comparator.comparing((StackLife life) -> life.order().at())
                        .reversed());
    }

    /// Ends what runs; what is stored ends with its servers.
    @Override
    public void close() throws IOException {
        List<Entry> last;
        synchronized (this) {
            last = List.copyOf(all);
        }
        for (Entry entry : last) {
            entry.life.cancel();
            try {
                entry.work.join();
            } catch (CompletionException e) {
                throw new IOException("The work on stack " + entry.life.order().name() + " has failed", e);
            } finally {
                entry.works.close();
            }
        }
        threads.shutdownNow();
    }
}
