package dev.onefold.local.cloud;

import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.Stack;
import dev.onefold.local.stack.Storage;
import dev.onefold.local.stack.Workings;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import dev.onefold.mapping.source.Futures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;

/// Makes and removes what one stack consists of, resource by resource, and notes each step. One thread at a time.
final class Works implements AutoCloseable {
    private final StackLife life;
    private final Ground ground;
    private final List<Archive> archives = new ArrayList<>();
    private StackTemplate template;
    private Storage storage;
    private @Nullable Workings workings;
    private @Nullable Versions versions;

    /// A resource that could not be made.
    record Failure(String resource, String reason) {}

    Works(StackLife life, Ground ground) {
        this.life = life;
        this.ground = ground;
        template = life.template();
        storage = new Storage(template, ground.direct());
    }

    /// The resources of a template, in the order in which they are made.
    List<String> order(StackTemplate of) {
        List<String> all = new ArrayList<>(new Storage(of, ground.direct()).resources());
        all.addAll(Rules.behindStorage(of));
        return all;
    }

    /// Lets what follows be of another template of the stack, or of the one before again.
    void become(StackTemplate other) {
        template = other;
        storage = new Storage(other, ground.direct());
    }

    /// Makes all of it, until one fails or the stack is to be deleted.
    Optional<Failure> make() {
        return order(template).stream()
                .map(resource -> step(resource, "CREATE", () -> make(resource)))
                .flatMap(Optional::stream)
                .findFirst();
    }

    /// Makes one of them.
    void make(String resource) throws IOException {
        if (storage.resources().contains(resource)) {
            storage.make(resource).join();
        } else {
            Rules.requireKnown(template, resource);
            work(resource);
        }
    }

    /// One step of making or changing.
    interface Step {
        void run() throws IOException;
    }

    /// @param kind of the step, as the status begins: `CREATE` or `UPDATE`
    Optional<Failure> step(String resource, String kind, Step step) {
        if (life.isCancelled()) {
            life.mark(resource, kind + "_FAILED", "Resource creation cancelled");
            return Optional.of(new Failure(resource, "Resource creation cancelled"));
        }
        life.mark(resource, kind + "_IN_PROGRESS", "");
        try {
            step.run();
        } catch (RuntimeException | IOException e) { // Whatever it is, AWS makes it the reason.
            String reason = String.valueOf(cause(e).getMessage());
            life.mark(resource, kind + "_FAILED", reason);
            return Optional.of(new Failure(resource, reason));
        }
        life.mark(resource, kind + "_COMPLETE", "");
        return Optional.empty();
    }

    /// Changes one that is there.
    void change(String resource, Set<String> changed) throws IOException {
        if (storage.resources().contains(resource)) {
            storage.update(resource, changed).join();
            return;
        }
        Rules.requireKnown(template, resource);
        String type = template.type(resource);
        if (!Rules.isChangeKnown(type, changed)) {
            throw new IllegalArgumentException(
                    "The stand-in for CloudFormation does not change " + changed + " of " + resource);
        }
        switch (type) {
            case Rules.FUNCTION -> load(resource);
            case Rules.ALIAS -> versions().point(template, resource);
            case Rules.ROLE ->
                ground.gate()
                        .setRoles(ground.callers(new Stack(template, Account.LOCAL.region())
                                .roles()
                                .values()));
            default -> {}
        }
    }

    Workings workings() {
        return Objects.requireNonNull(workings, "The stack has no function");
    }

    Versions versions() {
        return Objects.requireNonNull(versions, "The stack has no function");
    }

    private void load(String function) throws IOException {
        Archive code = unpack(function);
        archives.add(code);
        workings().load(template, function, place(code));
        versions().loaded(function, code.digest());
    }

    /// Removes one that an update has replaced or left out, or that a rollback takes back.
    ///
    /// @return whether it is gone
    boolean removed(String resource) {
        if (storage.resources().contains(resource)) {
            return remove(resource);
        }
        life.mark(resource, "DELETE_COMPLETE", "");
        return true;
    }

    private static Throwable cause(Exception e) {
        return e instanceof CompletionException ? Futures.cause(e) : e;
    }

    private void work(String resource) throws IOException {
        if (template.type(resource).equals(Rules.FUNCTION)) {
            if (workings == null) {
                Archive code = unpack(resource);
                archives.add(code);
                workings = new Workings(template, place(code), ground.faults());
                versions = new Versions(workings);
                ground.gate().setRoles(ground.callers(workings.roles().values()));
            }
            versions().loaded(resource, archives.getLast().digest());
        } else if (template.type(resource).equals(Rules.VERSION)) {
            versions().publish(template, resource);
        } else if (template.type(resource).equals(Rules.MAPPING) && isFirst(resource)) {
            invoke(); // All of them at once, and the schedules with them.
        } else if (template.type(resource).equals(Rules.CUSTOM)) {
            ask(resource, Optional.empty());
        }
    }

    /// Asks the function of a custom resource, which is the one that is loaded last.
    ///
    /// @param before the template until now; none if the resource is new
    void ask(String resource, Optional<StackTemplate> before) {
        Map<String, Object> properties = template.properties(resource);
        Map<String, Object> old = before.map(its -> its.properties(resource)).orElse(properties);
        if (!Objects.equals(old.get("ServiceToken"), properties.get("ServiceToken"))) {
            throw new IllegalArgumentException("Modifying service token is not allowed.");
        }
        String function = template.resources(Rules.FUNCTION).stream()
                .filter(each -> template.value(each + ".Arn").equals(properties.get("ServiceToken")))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(resource + " asks no function of the template"));
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("RequestType", before.isEmpty() ? "Create" : "Update");
        event.put("StackId", life.order().id());
        event.put("LogicalResourceId", resource);
        event.put("ResourceType", Rules.CUSTOM);
        event.put("ResourceProperties", properties);
        before.ifPresent(its -> {
            event.put("PhysicalResourceId", its.value(resource));
            event.put("OldResourceProperties", old);
        });
        String id = new Question(event, Integer.parseInt(String.valueOf(properties.get("ServiceTimeout"))))
                .of(workings().latest(function));
        template.learn(resource, id);
    }

    private boolean isFirst(String resource) {
        return template.resources(Rules.MAPPING).getFirst().equals(resource);
    }

    private void invoke() {
        if (workings == null) {
            throw new IllegalArgumentException("The template has a mapping and no function");
        }
        workings.invoke(place(archives.getLast()));
    }

    private Workings.Place place(Archive code) {
        Machine machine = ground.machine();
        return new Workings.Place(
                new Machine(code.classPath(), machine.node(), machine.sandboxesMax(), machine.minute()),
                ground.gate().uri(),
                ground.connections(),
                Optional.of(ground.meters()));
    }

    private Archive unpack(String function) throws IOException {
        Object code = template.properties(function).get("Code");
        if (!(code instanceof Map<?, ?> place)) {
            throw new IllegalArgumentException("The code of " + function + " is in no bucket");
        }
        String bucket = String.valueOf(place.get("S3Bucket"));
        String key = String.valueOf(place.get("S3Key"));
        byte[] zip;
        try {
            zip = ground.direct()
                    .objects
                    .getObject(request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                    .join()
                    .asByteArrayUnsafe();
        } catch (CompletionException e) {
            throw new IllegalArgumentException(
                    "Error occurred while GetObject of " + bucket + "/" + key + ". "
                            + Futures.cause(e).getMessage(),
                    e);
        }
        return Archive.unpack(zip);
    }

    /// Removes what was made and is not to be retained; what runs comes first.
    ///
    /// @param retained resources that are left alone, whatever the template says
    /// @param rollback whether the stack was never complete
    /// @return the resources that could not be removed
    List<String> remove(List<String> retained, boolean rollback) throws IOException {
        close();
        ground.gate().setRoles(ground.callers(List.of()));
        List<String> failed = new ArrayList<>();
        List<String> stored = storage.resources();
        for (StackLife.Resource resource : life.resources().reversed()) {
            String name = resource.logical();
            if (!isThere(resource)) {
                continue;
            }
            if (retained.contains(name) || isRetained(name, rollback)) {
                life.mark(name, "DELETE_SKIPPED", "");
            } else if (!stored.contains(name)) {
                life.mark(name, "DELETE_COMPLETE", "");
            } else if (!remove(name)) {
                failed.add(name);
            }
        }
        return failed;
    }

    private static boolean isThere(StackLife.Resource resource) {
        return switch (resource.status().name()) {
            case "CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_FAILED" -> true;
            default -> false;
        };
    }

    boolean isRetained(String resource, boolean rollback) {
        return switch (template.deletionPolicy(resource)) {
            case "Retain" -> true;
            case "RetainExceptOnCreate" -> !rollback;
            default -> false;
        };
    }

    private boolean remove(String resource) {
        life.mark(resource, "DELETE_IN_PROGRESS", "");
        try {
            storage.remove(resource).join();
        } catch (CompletionException e) {
            Throwable cause = Futures.cause(e);
            if (!isMissing(cause)) {
                life.mark(resource, "DELETE_FAILED", String.valueOf(cause.getMessage()));
                return false;
            }
        }
        life.mark(resource, "DELETE_COMPLETE", "");
        return true;
    }

    /// Somebody else has deleted it, which is what is wanted.
    private static boolean isMissing(Throwable cause) {
        return switch (cause) {
            case software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException _ -> true;
            case software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException _ -> true;
            case software.amazon.awssdk.services.s3.model.NoSuchBucketException _ -> true;
            case software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException _ -> true;
            default -> false;
        };
    }

    /// Ends what runs.
    @Override
    public void close() throws IOException {
        if (workings != null) {
            workings.close();
            workings = null;
        }
        for (Archive code : archives) {
            code.close();
        }
        archives.clear();
    }
}
