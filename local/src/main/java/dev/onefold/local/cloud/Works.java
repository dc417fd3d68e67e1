package dev.onefold.local.cloud;

import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.Storage;
import dev.onefold.local.stack.Workings;
import dev.onefold.local.template.StackTemplate;
import dev.onefold.mapping.source.Futures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;

/// Makes and removes what one stack consists of, resource by resource, and notes each step. One thread at a time.
final class Works implements AutoCloseable {
    private final StackLife life;
    private final StackTemplate template;
    private final Ground ground;
    private final Storage storage;
    private @Nullable Archive archive;
    private @Nullable Workings workings;

    /// A resource that could not be made.
    record Failure(String resource, String reason) {}

    Works(StackLife life, Ground ground) {
        this.life = life;
        this.ground = ground;
        template = life.template();
        storage = new Storage(template, ground.direct());
    }

    /// Makes all of it, until one fails or the stack is to be deleted.
    Optional<Failure> make() {
        for (String resource : storage.resources()) {
            Optional<Failure> failure =
                    step(resource, () -> storage.make(resource).join());
            if (failure.isPresent()) {
                return failure;
            }
        }
        for (String resource : Rules.behindStorage(template)) {
            Optional<Failure> failure = step(resource, () -> {
                Rules.requireKnown(template, resource);
                work(resource);
            });
            if (failure.isPresent()) {
                return failure;
            }
        }
        return Optional.empty();
    }

    /// One step of making.
    private interface Step {
        void run() throws IOException;
    }

    private Optional<Failure> step(String resource, Step step) {
        if (life.isCancelled()) {
            life.mark(resource, "CREATE_FAILED", "Resource creation cancelled");
            return Optional.of(new Failure(resource, "Resource creation cancelled"));
        }
        life.mark(resource, "CREATE_IN_PROGRESS", "");
        try {
            step.run();
        } catch (RuntimeException | IOException e) { // Whatever it is, AWS makes it the reason.
            String reason = String.valueOf(cause(e).getMessage());
            life.mark(resource, "CREATE_FAILED", reason);
            return Optional.of(new Failure(resource, reason));
        }
        life.mark(resource, "CREATE_COMPLETE", "");
        return Optional.empty();
    }

    private static Throwable cause(Exception e) {
        return e instanceof CompletionException ? Futures.cause(e) : e;
    }

    private void work(String resource) throws IOException {
        if (template.type(resource).equals(Rules.FUNCTION)) {
            if (workings == null) {
                archive = unpack(resource);
                workings = new Workings(template, place(archive), ground.faults());
                ground.gate().setRoles(ground.callers(workings.roles().values()));
            }
        } else if (template.type(resource).equals(Rules.MAPPING) && isFirst(resource)) {
            invoke(); // All of them at once, and the schedules with them.
        }
    }

    private boolean isFirst(String resource) {
        return template.resources(Rules.MAPPING).getFirst().equals(resource);
    }

    private void invoke() {
        if (workings == null || archive == null) {
            throw new IllegalArgumentException("The template has a mapping and no function");
        }
        workings.invoke(place(archive));
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
            case "CREATE_COMPLETE", "DELETE_FAILED" -> true;
            default -> false;
        };
    }

    private boolean isRetained(String resource, boolean rollback) {
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
        if (archive != null) {
            archive.close();
            archive = null;
        }
    }
}
