package dev.onefold.fakes.aws;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;

/// How one process reaches a service: requests and answers take time, and either may be lost. A request is sent once;
/// what is tried again, the caller tries. One thread, the one that runs the [VirtualTime].
public final class Wire {
    private static final List<Fault> EXCLUSIVE =
            List.of(Fault.REQUEST_LOST, Fault.REPLY_LOST, Fault.THROTTLED, Fault.ERROR_BEFORE, Fault.ERROR_AFTER);

    private final VirtualTime time;
    private final SplittableRandom random;
    private final Supplier<Faults> faults;
    private final Refusals refusals;
    private boolean alive = true;

    /// How a service says that it cannot.
    ///
    /// @param throttled it has had enough for now
    /// @param failed a failure of its own
    public record Refusals(Supplier<AwsServiceException> throttled, Supplier<AwsServiceException> failed) {}

    public Wire(VirtualTime time, SplittableRandom random, Supplier<Faults> faults, Refusals refusals) {
        this.time = time;
        this.random = random;
        this.faults = faults;
        this.refusals = refusals;
    }

    /// What every exception of a service says.
    public static <B extends AwsServiceException.Builder> B filled(B builder, String code, int status, String message) {
        builder.message(message)
                .statusCode(status)
                .requestId("simulated")
                .awsErrorDetails(AwsErrorDetails.builder()
                        .errorCode(code)
                        .errorMessage(message)
                        .build());
        return builder;
    }

    /// Kills the process: it hears nothing any more. What it has sent still arrives.
    public void kill() {
        alive = false;
    }

    /// Sends a request.
    ///
    /// @param work what the service does when it arrives; it may throw what the service answers
    public <R> CompletableFuture<R> call(Supplier<R> work) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        if (!alive) {
            return answer;
        }
        Faults now = faults.get();
        Fault fault = fault(now);
        if (fault == Fault.REQUEST_LOST || fault == Fault.REPLY_LOST) {
            time.schedule(
                    now.timing().clientTimeout(),
                    () -> hear(
                            answer,
                            null,
                            random.nextBoolean()
                                    ? ApiCallTimeoutException.create(
                                            now.timing().clientTimeout().toMillis())
                                    : SdkClientException.create("Unable to execute HTTP request: connection reset")));
        }
        if (fault != Fault.REQUEST_LOST) {
            time.schedule(Faults.upTo(now.timing().networkMax(), random), () -> arrive(work, fault, answer));
        }
        // As the SDK's own futures: a callback finds its failure in a CompletionException.
        return answer.thenApply(Function.identity());
    }

    private @Nullable Fault fault(Faults now) {
        for (Fault each : EXCLUSIVE) {
            if (now.strikes(each, random)) {
                return each;
            }
        }
        return null;
    }

    private <R> void arrive(Supplier<R> work, @Nullable Fault fault, CompletableFuture<R> answer) {
        R response = null;
        RuntimeException failure = null;
        try {
            switch (fault) {
                case THROTTLED -> throw refusals.throttled().get();
                case ERROR_BEFORE -> throw refusals.failed().get();
                case null, default -> response = work.get();
            }
            if (fault == Fault.ERROR_AFTER) {
                throw refusals.failed().get();
            }
        } catch (AwsServiceException refused) {
            failure = refused;
        }
        if (fault != Fault.REPLY_LOST) {
            R result = response;
            RuntimeException refusal = failure;
            time.schedule(Faults.upTo(faults.get().timing().networkMax(), random), () -> hear(answer, result, refusal));
        }
    }

    private <R> void hear(CompletableFuture<R> answer, @Nullable R response, @Nullable RuntimeException failure) {
        if (!alive) {
            return;
        }
        if (failure == null) {
            answer.complete(response);
        } else {
            answer.completeExceptionally(failure);
        }
    }
}
