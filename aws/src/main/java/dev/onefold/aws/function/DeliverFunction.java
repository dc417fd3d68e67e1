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
    /// The exit code of a process that ends because of a call that does not.
    private static final int LEFT_RUNNING = 70;

    private final Store store;
    private final Deliver deliver;
    private final Metrics metrics;
    private final Deliver.Receiver receiver;
    private final Runnable end;

    /// As Lambda makes it.
    public DeliverFunction() {
        this(Environment.ofProcess());
    }

    private DeliverFunction(Environment environment) {
        this(
                environment.store(),
                environment.pipeline(),
                FunctionReceivers.open(
                        environment.pipeline(),
                        DeliverFunction.class.getClassLoader(),
                        environment.secret().map(Connection::secret)),
                new Metrics(environment),
                () -> Runtime.getRuntime().halt(LEFT_RUNNING));
    }

    /// For a process that has its own store and receiver: one under test, or a simulated one.
    ///
    /// @param end ends the process
    public DeliverFunction(Store store, Pipeline pipeline, Deliver.Receiver receiver, Metrics metrics, Runnable end) {
        this.receiver = receiver;
        this.end = end;
        this.store = store;
        this.metrics = metrics;
        deliver = new Deliver(store, pipeline, receiver, FunctionReceivers.limits((Batching) pipeline.fold()));
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return handle(event, () -> Shell.left(context));
    }

    /// Does one invocation.
    ///
    /// @param timeLeft of the invocation
    /// @return the answer's bytes
    public byte[] handle(byte[] event, Supplier<Duration> timeLeft) {
        if (endsWithCall("")) {
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
            boolean _ = endsWithCall(failure);
        }
        return BatchResponse.DONE.json();
    }

    /// Ends the process if a call that was given up still runs in it. Lambda would freeze the process with the
    /// call in it, and thaw both hours later, beside another attempt.
    ///
    /// @param more what is lost with the process
    private boolean endsWithCall(String more) {
        if (!receiver.isLeftRunning().getAsBoolean()) {
            return false;
        }
        metrics.log("ERROR A call of the receiver has not returned in its time, and is not ended by an"
                + " interrupt: this process ends with it. Let deliver() obey interrupts." + more);
        end.run();
        return true;
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
