package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.Connection;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.Deliver.Backlog;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Metric;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;

/// The function that delivers sealed batches. What it is invoked with only wakes it: a batch was sealed, or
/// a minute has passed.
public final class DeliverFunction implements Shell {
    private final Store store;
    private final Deliver deliver;
    private final Metrics metrics;
    private final Deliver.Receiver receiver;
    private final Runnable end;
    private InjectedFailures failures;

    /// As Lambda makes it.
    public DeliverFunction() {
        this(Environment.ofProcess());
    }

    private DeliverFunction(Environment environment) {
        this(
                environment.store(),
                environment.pipeline(),
                receiver(environment),
                new Metrics(environment),
                LeftCall.HALT);
        failures = InjectedFailures.of(environment.failOfMillion(), store, metrics);
    }

    /// Whether records are handed over by Collect.
    static boolean isDirect(Pipeline pipeline) {
        return pipeline.fold() instanceof Batching batching && batching.direct();
    }

    static Deliver.Receiver receiver(Environment environment) {
        return FunctionReceivers.open(
                environment.pipeline(),
                DeliverFunction.class.getClassLoader(),
                environment.secret().map(Connection::secret));
    }

    /// For a process that has its own store and receiver: one under test, or a simulated one.
    ///
    /// @param end ends the process
    public DeliverFunction(Store store, Pipeline pipeline, Deliver.Receiver receiver, Metrics metrics, Runnable end) {
        this.receiver = receiver;
        this.end = end;
        this.store = store;
        this.metrics = metrics;
        failures = InjectedFailures.of(0, store, metrics);
        deliver = new Deliver(store, pipeline, receiver, FunctionReceivers.limits((Batching) pipeline.fold()));
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return failures.around(() -> handle(event, () -> Shell.left(context)));
    }

    /// Does one invocation.
    ///
    /// @param timeLeft of the invocation
    /// @return the answer's bytes
    public byte[] handle(byte[] event, Supplier<Duration> timeLeft) {
        if (LeftCall.end(receiver, metrics, "", end)) {
            return BatchResponse.DONE.json(); // The process was thawed with a call in it.
        }
        String failure = "";
        try {
            if (Invocation.read(event) instanceof Invocation.Tick) {
                tell(deliver.backlog()); // First: what this invocation does about it must not hide it.
            }
            int attempts = deliver.run(timeLeft);
            if (attempts > 0) {
                metrics.log("INFO Attempts to deliver were made: " + attempts);
            }
        } catch (RuntimeException | Error failed) {
            failure = " The invocation has failed, too: " + failed;
            throw failed;
        } finally {
            boolean _ = LeftCall.end(receiver, metrics, failure, end);
        }
        return BatchResponse.DONE.json();
    }

    /// A metric that is not written costs nothing.
    private void tell(Backlog backlog) {
        long nowMs = store.clock().millis();
        Map<Metric, Long> values = new EnumMap<>(Metric.class);
        backlog.oldestSealedMs()
                .ifPresent(sealedMs -> values.put(Metric.OldestUndeliveredMs, Math.max(0, nowMs - sealedMs)));
        if (backlog.inDoubt() > 0) {
            values.put(Metric.InDoubt, (long) backlog.inDoubt());
        }
        if (backlog.aside() > 0) {
            values.put(Metric.PutAside, (long) backlog.aside());
        }
        if (!values.isEmpty()) {
            metrics.write(store.clock().instant(), values);
        }
    }
}
