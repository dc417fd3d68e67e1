package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.WakeItem;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Metric;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/// The function that seals batches. What it is invoked with only wakes it: something was collected, or a minute
/// has passed.
public final class SealFunction implements Shell {
    /// Of an invocation's two minutes.
    private static final Duration FORGETTING_MAX = Duration.ofSeconds(45);

    private final Store store;
    private final Pipeline pipeline;
    private final Metrics metrics;
    private Optional<Cutter> opened = Optional.empty();
    private Optional<IdRemoval> forgetting = Optional.empty();

    /// Since when no invocation of this process has come to its end.
    private OptionalLong unfinishedMs = OptionalLong.empty();

    /// As Lambda makes it.
    public SealFunction() {
        this(Environment.ofProcess());
    }

    private SealFunction(Environment environment) {
        this(environment.store(), environment.pipeline(), new Metrics(environment));
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public SealFunction(Store store, Pipeline pipeline, Metrics metrics) {
        this.store = store;
        this.pipeline = pipeline;
        this.metrics = metrics;
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return handle(event);
    }

    /// Does one invocation.
    ///
    /// @return the answer's bytes
    public byte[] handle(byte[] event) {
        boolean isTick = Invocation.read(event) instanceof Invocation.Tick;
        WakeItem.remove(store);
        if (opened.isEmpty()) {
            // Before the first message there is nothing to seal.
            Batching batching = (Batching) pipeline.fold();
            Optional<BatchDefinition> definition = BatchDefinition.find(store);
            opened = definition.map(found -> new Cutter(store, batching, found.lanes()));
            forgetting = definition.map(found -> new IdRemoval(store, batching, found.lanes()));
        }
        opened.ifPresent(cutter -> seal(cutter, isTick));
        if (isTick) {
            forgetting.ifPresent(batches -> batches.run(FORGETTING_MAX)); // It goes on at the next tick.
        }
        return BatchResponse.DONE.json();
    }

    /// The lag comes first where the invocation before has not come to its end: what fails must not hide it.
    private void seal(Cutter cutter, boolean isTick) {
        if (isTick) {
            tell(unfinishedMs);
        }
        if (unfinishedMs.isEmpty()) {
            unfinishedMs = OptionalLong.of(store.clock().millis());
        }
        int sealed = cutter.run();
        unfinishedMs = OptionalLong.empty();
        if (sealed > 0) {
            metrics.log("INFO Batches were sealed: " + sealed);
        }
        if (isTick) {
            tell(cutter.oldestMs());
        }
    }

    /// A metric that is not written costs nothing.
    private void tell(OptionalLong sinceMs) {
        sinceMs.ifPresent(ms -> metrics.write(
                store.clock().instant(),
                Map.of(Metric.OldestUnsealedMs, Math.max(0, store.clock().millis() - ms))));
    }
}
