package dev.onefold.simulator.deployment;

import dev.onefold.aws.function.ReduceFunction;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.stream.TableStream;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.TableSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.OperationType;

/// Reduce, woken by the stream of the deltas' table and each minute, by either more than once, late or not at all, and
/// killed in the middle.
public final class Reducers implements AutoCloseable {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final byte[] TICK = "{}".getBytes(StandardCharsets.UTF_8);
    private static final int FAMILIES_MAX = 3;

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double faultChance;
    private final TableStream stream;
    private final Sandboxes sandboxes;
    private final @Nullable StreamMapping mapping;
    private boolean closed;

    public Reducers(Deployment deployment, SplittableRandom random, double faultChance, Faults faults) {
        this.deployment = deployment;
        this.random = random;
        this.faultChance = faultChance;
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
                faultChance,
                client -> new ReduceFunction(deployment.store(client), Deployment.SILENT)::handle);
        mapping = random.nextInt(8) == 0
                ? null // Only the minutes wake.
                : StreamMapping.open(
                        new VirtualScheduler(deployment.time),
                        new TableSource(stream, stream.arn(), Set.of(OperationType.INSERT)),
                        new Target(sandboxes, "arn:aws:lambda:eu-central-1:000000000000:function:reduce", null),
                        MappingSettings.wakes(),
                        MappingFaults.of(random.nextLong(), faultChance));
        tick();
    }

    private boolean strikes() {
        return random.nextDouble() < faultChance;
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
    public @Nullable Throwable bug() {
        return sandboxes.bug();
    }

    /// From now on only the minutes wake.
    public void loseStream() {
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
