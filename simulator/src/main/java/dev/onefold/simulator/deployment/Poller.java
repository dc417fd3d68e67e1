package dev.onefold.simulator.deployment;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.simulator.aws.SimulatedClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/// An event source mapping of one shard, as nasty as its documentation allows: batches of any size, one batch in two
/// invocations at once, what was done delivered again, a function that is killed or times out in the middle, a batch
/// cut in two after a failure. It goes on until every record was in an invocation that succeeded.
final class Poller {
    private static final int BATCH_MAX = 30;
    private static final Duration FUNCTION_MAX = Duration.ofSeconds(60);
    private static final Duration RETRY_MAX = Duration.ofSeconds(3);

    private final Deployment deployment;
    private final List<Arrival> records;
    private final SplittableRandom random;
    private final double nastiness;
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private int invocations;

    /// @param nastiness from 0 to 1
    Poller(Deployment deployment, List<Arrival> records, SplittableRandom random, double nastiness) {
        this.deployment = deployment;
        this.records = records;
        this.random = random;
        this.nastiness = nastiness;
    }

    /// Completes when every record was in an invocation that succeeded.
    CompletableFuture<Void> finished() {
        return finished;
    }

    void start() {
        later(Duration.ofMillis(500), () -> next(0));
    }

    private void later(Duration max, Runnable action) {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(max.toNanos()) + 1), action);
    }

    private boolean strikes() {
        return random.nextDouble() < nastiness;
    }

    private void next(int from) {
        if (from >= records.size()) {
            finished.complete(null);
            return;
        }
        int to = Math.min(records.size(), from + 1 + random.nextInt(BATCH_MAX));
        if (from > 0 && strikes()) {
            // A poller that took over begins behind its predecessor's last word.
            int again = random.nextInt(from);
            later(
                    RETRY_MAX,
                    () -> invoke(again, Math.min(records.size(), again + 1 + random.nextInt(BATCH_MAX)), _ -> {}));
        }
        if (strikes()) {
            later(Duration.ofMillis(50), () -> invoke(from, to, _ -> {}));
        }
        batch(from, to, () -> next(to));
    }

    /// A batch until it succeeds; a failed one may be cut in two, each of which must succeed.
    private void batch(int from, int to, Runnable then) {
        invoke(from, to, succeeded -> {
            if (succeeded) {
                then.run();
            } else if (to - from > 1 && random.nextBoolean()) {
                int middle = from + 1 + random.nextInt(to - from - 1);
                later(RETRY_MAX, () -> batch(from, middle, () -> batch(middle, to, then)));
            } else {
                later(RETRY_MAX, () -> batch(from, to, then));
            }
        });
    }

    private interface Outcome {
        void is(boolean succeeded);
    }

    private void invoke(int from, int to, Outcome outcome) {
        SimulatedClient sandbox = deployment.dynamo.client("state-" + ++invocations);
        boolean[] ended = new boolean[1];
        Runnable kill = () -> {
            if (!ended[0]) {
                ended[0] = true;
                sandbox.kill();
                outcome.is(false);
            }
        };
        deployment.time.schedule(FUNCTION_MAX, kill);
        if (strikes()) {
            later(Duration.ofMillis(300), kill);
        }
        List<Arrival> batch = new ArrayList<>(records.subList(from, to));
        var store = deployment.store(sandbox);
        CompletableFuture<Void> done = StateAndMap.process(store, batch)
                .thenCompose(fates -> new LetterTable(store).count(Fate.counts(fates)));
        var _ = done.whenComplete((_, failure) -> {
            if (!ended[0]) {
                ended[0] = true;
                if (failure != null && !mayFail(failure)) {
                    finished.completeExceptionally(failure);
                } else {
                    outcome.is(failure == null);
                }
            }
        });
    }

    /// A function may fail because its services do; a bug in it must not hide among these.
    static boolean mayFail(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof software.amazon.awssdk.core.exception.SdkException
                || String.valueOf(cause.getMessage()).matches("(?s).*(could not be|have refused).*");
    }
}
