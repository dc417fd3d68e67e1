package dev.onefold.fakes.aws.bucket;

import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Objects in virtual time. A request may be lost, or its answer, or come long after its client gave up; the
/// service may be busy, or fail before or after it did what was asked. What is written is seen at once by
/// everybody, as the service has it. One thread, the one that runs the [VirtualTime].
public final class SimulatedBucket {
    private static final List<Fault> FAULTS = List.of(
            Fault.REQUEST_LOST, Fault.REPLY_LOST, Fault.ZOMBIE, Fault.THROTTLED, Fault.ERROR_BEFORE, Fault.ERROR_AFTER);
    private static final int BUSY = 503;
    private static final int FAILED = 500;

    private final VirtualTime time;
    private final Supplier<Faults> faults;
    private final SplittableRandom random;
    private final Map<String, byte[]> objects = new TreeMap<>();

    /// Versions that are not current any more, and the marks of those that were removed.
    private final List<Old> old = new ArrayList<>();

    /// @param since when it became so
    private record Old(String object, Instant since) {}

    /// An empty one.
    ///
    /// @param faults what goes wrong now
    public SimulatedBucket(VirtualTime time, Supplier<Faults> faults, SplittableRandom random) {
        this.time = time;
        this.faults = faults;
        this.random = random;
    }

    /// A client of a process. When that is killed, nothing that it waits for ever completes.
    public S3AsyncClient client(SimulatedClient process) {
        return new BucketClient(this, process);
    }

    /// How many objects there are.
    public int size() {
        return objects.size();
    }

    /// How many versions of objects there are, as the bucket keeps versions. The mark of an object that was removed is
    /// one, too, as long as there are others.
    public int versions() {
        return objects.size() + old.size();
    }

    /// Removes old versions, as a rule of the bucket does.
    ///
    /// @param prefix of the objects
    /// @param age since a version is not current any more
    public void expire(String prefix, Duration age) {
        Instant last = time.instant().minus(age);
        old.removeIf(version ->
                version.object.substring(version.object.indexOf('/') + 1).startsWith(prefix)
                        && !version.since.isAfter(last));
    }

    void put(String object, byte[] content) {
        if (objects.put(object, content) != null) {
            old.add(new Old(object, time.instant()));
        }
    }

    byte[] get(String object) {
        byte[] content = objects.get(object);
        if (content == null) {
            throw NoSuchKeyException.builder()
                    .message("The specified key does not exist.")
                    .statusCode(404)
                    .build();
        }
        return content;
    }

    void remove(String object) {
        if (objects.remove(object) != null) {
            old.add(new Old(object, time.instant()));
        }
    }

    /// One request on its way, and its answer.
    <R> CompletableFuture<R> call(SimulatedClient process, Supplier<R> work) {
        Faults plan = faults.get();
        Fault fault = FAULTS.stream()
                .filter(each -> plan.strikes(each, random))
                .findFirst()
                .orElse(null);
        CompletableFuture<R> answer = new CompletableFuture<>();
        Duration timeout = plan.timing().clientTimeout();
        time.schedule(timeout, () -> hear(process, answer, null, ApiCallTimeoutException.create(timeout.toMillis())));
        Duration way = Faults.upTo(plan.timing().networkMax(), random);
        if (fault == Fault.ZOMBIE) {
            way = way.plus(timeout).plus(Faults.upTo(plan.timing().zombieMax(), random));
        }
        time.schedule(way, () -> {
            boolean dies = !process.isAlive() && plan.strikes(Fault.DIES_WITH_CLIENT, random);
            if (fault != Fault.REQUEST_LOST && !dies) {
                arrive(process, answer, work, fault);
            }
        });
        // As the SDK's own futures: a callback finds its failure in a CompletionException.
        return answer.thenApply(Function.identity());
    }

    private <R> void arrive(
            SimulatedClient process, CompletableFuture<R> answer, Supplier<R> work, @Nullable Fault fault) {
        R done = null;
        SdkException failure = null;
        if (fault == Fault.THROTTLED) {
            failure = failure(BUSY, "SlowDown");
        } else if (fault == Fault.ERROR_BEFORE) {
            failure = failure(FAILED, "InternalError");
        } else {
            try {
                done = work.get();
            } catch (SdkException refused) {
                failure = refused;
            }
        }
        R result = done;
        SdkException reason = fault == Fault.ERROR_AFTER ? failure(FAILED, "InternalError") : failure;
        if (fault != Fault.REPLY_LOST) {
            time.schedule(
                    Faults.upTo(faults.get().timing().networkMax(), random),
                    () -> hear(process, answer, result, reason));
        }
    }

    private static SdkException failure(int status, String code) {
        return S3Exception.builder()
                .message(code)
                .statusCode(status)
                .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
                .build();
    }

    private static <R> void hear(
            SimulatedClient process, CompletableFuture<R> answer, @Nullable R result, @Nullable SdkException failure) {
        if (process.isAlive() && failure != null) {
            answer.completeExceptionally(failure);
        } else if (process.isAlive()) {
            answer.complete(result);
        }
    }
}
