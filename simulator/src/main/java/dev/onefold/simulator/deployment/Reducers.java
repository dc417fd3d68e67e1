package dev.onefold.simulator.deployment;

import dev.onefold.aws.function.ReduceFunction;
import dev.onefold.local.mapping.MappingSettings;
import dev.onefold.local.mapping.Nastiness;
import dev.onefold.local.mapping.StreamMapping;
import dev.onefold.local.mapping.Target;
import dev.onefold.local.mapping.source.TableSource;
import dev.onefold.simulator.aws.Faults;
import dev.onefold.simulator.stream.TableStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.OperationType;

/// Reduce, woken by the stream of the deltas' table and each minute, by either more than once, late or not at all, and
/// killed in the middle.
final class Reducers implements AutoCloseable {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final byte[] TICK = "{}".getBytes(StandardCharsets.UTF_8);
    private static final int FAMILIES_MAX = 3;

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double nastiness;
    private final TableStream stream;
    private final Sandboxes sandboxes;
    private final @Nullable StreamMapping mapping;
    private boolean closed;

    Reducers(Deployment deployment, SplittableRandom random, double nastiness, Faults faults) {
        this.deployment = deployment;
        this.random = random;
        this.nastiness = nastiness;
        stream = new TableStream(
                deployment.time,
                deployment.dynamo,
                deployment.tables.deltas(),
                1 + random.nextInt(FAMILIES_MAX),
                random.nextLong());
        stream.inject(faults);
        sandboxes = new Sandboxes(
                deployment,
                random.split(),
                nastiness,
                client -> new ReduceFunction(deployment.store(client), Deployment.SILENT)::handle);
        mapping = random.nextInt(8) == 0
                ? null // Only the minutes wake.
                : StreamMapping.open(
                        deployment.time,
                        new TableSource(stream, stream.arn(), Set.of(OperationType.INSERT)),
                        new Target(sandboxes, "arn:aws:lambda:eu-central-1:000000000000:function:reduce", null),
                        MappingSettings.wakes(),
                        Nastiness.of(random.nextLong(), nastiness));
        tick();
    }

    private boolean strikes() {
        return random.nextDouble() < nastiness;
    }

    private void tick() {
        deployment.time.schedule(MINUTE, () -> {
            if (closed) {
                return;
            }
            if (random.nextInt(4) == 0) {
                stream.rollOver();
            }
            // What fails is left to the next minute; the totals at the end say whether it was.
            for (int times = strikes() ? random.nextInt(3) : 1; times > 0; times--) {
                long lateNanos = strikes() ? random.nextLong(MINUTE.toNanos()) : 0;
                deployment.time.schedule(Duration.ofNanos(lateNanos), () -> {
                    var _ = sandboxes.invoke(TICK);
                });
            }
            tick();
        });
    }

    /// What a function failed with that was not a service's fault; `null` if there is nothing.
    @Nullable
    Throwable bug() {
        return sandboxes.bug();
    }

    /// From now on only the minutes wake.
    void loseStream() {
        if (mapping != null) {
            mapping.close();
        }
    }

    /// Wakes nobody any more.
    @Override
    public void close() {
        closed = true;
        loseStream();
    }
}
