package dev.onefold.simulator.deployment;

import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.mapping.Invoker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Lambda, for one function: as many sandboxes as there are invocations at a time, each of which does one after the
/// other. One may be killed in the middle, and is after a minute; then the invocation has failed, whatever it has sent
/// arrives or not, and the sandbox never answers again.
final class Sandboxes implements Invoker {
    private static final Duration FUNCTION_MAX = Duration.ofSeconds(60);
    private static final Duration KILL_MAX = Duration.ofMillis(300);
    private static final int COLD_ONE_IN = 10;

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double faultChance;
    private final Code code;
    private final Deque<Sandbox> idle = new ArrayDeque<>();
    private int invocations;
    private int generation;
    private @Nullable Throwable bug;

    /// What a sandbox loads when it begins.
    interface Code {
        Function load(SimulatedClient client);
    }

    /// A function in a sandbox.
    interface Function {
        byte[] handle(byte[] event);
    }

    private record Sandbox(SimulatedClient client, Function function, int generation) {}

    /// @param faultChance chance, from 0 to 1, that an invocation is killed
    Sandboxes(Deployment deployment, SplittableRandom random, double faultChance, Code code) {
        this.deployment = deployment;
        this.random = random;
        this.faultChance = faultChance;
        this.code = code;
    }

    /// Gives no invocation to a sandbox of before any more.
    void retire() {
        generation++;
        idle.clear();
    }

    int invocations() {
        return invocations;
    }

    /// What a function failed with that was not a service's fault; `null` if there is nothing.
    @Nullable
    Throwable bug() {
        return bug;
    }

    @Override
    public CompletableFuture<byte[]> invoke(byte[] event) {
        invocations++;
        Sandbox warm = random.nextInt(COLD_ONE_IN) == 0 ? null : idle.poll();
        Sandbox sandbox = warm == null ? cold() : warm;
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        Duration left = random.nextDouble() < faultChance
                ? Duration.ofNanos(random.nextLong(KILL_MAX.toNanos()) + 1)
                : FUNCTION_MAX;
        VirtualTime.Moment end = deployment.time.schedule(left, () -> {
            sandbox.client.kill();
            answer.completeExceptionally(new IllegalStateException("The sandbox was killed after " + left));
        });
        var _ = CompletableFuture.supplyAsync(() -> sandbox.function.handle(event), deployment.time::start)
                .whenComplete((bytes, failure) -> {
                    if (answer.isDone()) {
                        return;
                    }
                    deployment.time.cancel(end);
                    if (sandbox.generation == generation) {
                        idle.push(sandbox);
                    }
                    if (failure == null) {
                        answer.complete(bytes);
                    } else {
                        bug = mayFail(failure) ? bug : failure;
                        answer.completeExceptionally(failure);
                    }
                });
        return answer;
    }

    private Sandbox cold() {
        SimulatedClient client = deployment.dynamo.client("sandbox");
        return new Sandbox(client, code.load(client), generation);
    }

    /// A function may fail because its services do; a bug in it must not hide among these.
    private static boolean mayFail(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = String.valueOf(cause.getMessage());
        return cause instanceof software.amazon.awssdk.core.exception.SdkException
                || message.contains("could not be written in")
                || message.contains("have refused")
                || message.endsWith("Records wait, and come again.") // A sandbox of another version than serves.
                || Restores.isRefused(cause);
    }
}
