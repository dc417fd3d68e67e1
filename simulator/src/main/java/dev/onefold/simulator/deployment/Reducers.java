package dev.onefold.simulator.deployment;

import dev.onefold.aws.reduce.Reduce;
import dev.onefold.simulator.aws.SimulatedClient;
import java.time.Duration;
import java.util.SplittableRandom;

/// Wakes Reduce: soon after a delta was written, each minute, or not at all; several at once for one lane, and killed
/// in
/// the middle.
final class Reducers {
    private static final Duration FUNCTION_MAX = Duration.ofSeconds(60);
    private static final Duration SWEEP = Duration.ofMinutes(1);

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double nastiness;
    private final int lanes;
    private boolean stopped;
    private int invocations;

    Reducers(Deployment deployment, SplittableRandom random, double nastiness, int lanes) {
        this.deployment = deployment;
        this.random = random;
        this.nastiness = nastiness;
        this.lanes = lanes;
        deployment.dynamo.onWrite(deployment.tables.deltas(), change -> {
            int lane = random.nextInt(lanes); // The stream's records are batched, late, or lost: any lane will do.
            if (!stopped && random.nextInt(3) > 0) {
                later(Duration.ofSeconds(2), () -> reduce(lane));
            }
        });
        sweep();
    }

    private void sweep() {
        deployment.time.schedule(SWEEP, () -> {
            if (!stopped) {
                for (int lane = 0; lane < lanes; lane++) {
                    reduce(lane);
                }
                sweep();
            }
        });
    }

    /// No more after this.
    void stop() {
        stopped = true;
    }

    private void later(Duration max, Runnable action) {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(max.toNanos()) + 1), action);
    }

    private void reduce(int lane) {
        SimulatedClient sandbox = deployment.dynamo.client("reduce-" + ++invocations);
        deployment.time.schedule(FUNCTION_MAX, sandbox::kill);
        if (random.nextDouble() < nastiness) {
            later(Duration.ofMillis(300), sandbox::kill);
        }
        // What fails is left to the next one that wakes; the totals at the end say whether it was.
        var _ = Reduce.lane(deployment.store(sandbox), lane).exceptionally(_ -> 0L);
    }
}
