package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Environment;
import dev.onefold.core.pipeline.Publishing;
import java.io.PrintStream;
import java.time.Duration;
import java.util.function.LongSupplier;

/// The function that keeps the published table. What it is invoked with only wakes it: deltas that are gone, because
/// they are in the totals now, or time that has passed. An invocation ends when the table has all that was in the
/// totals when it began, whoever has written it.
public final class PublishFunction implements Shell {
    private static final Duration PAUSE = Duration.ofMillis(500);

    /// The time that an invocation reserves for its last requests.
    private static final long REMAINING_MS_MIN = 5_000;

    private final Store store;
    private final Publication publication;
    private final PrintStream out;

    /// As Lambda makes it.
    public PublishFunction() {
        this(Environment.ofProcess());
    }

    private PublishFunction(Environment environment) {
        this(environment.store(), items(environment), System.out);
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public PublishFunction(Store store, Publishing.Items publishing, PrintStream out) {
        this.store = store;
        this.out = out;
        publication = new Publication(store, publishing);
    }

    private static Publishing.Items items(Environment environment) {
        if (environment.pipeline().publishing() instanceof Publishing.Items items) {
            return items;
        }
        throw new IllegalStateException("The pipeline of this function publishes to no table of DynamoDB."
                + " Deploy the template that 'onefold aws template' writes.");
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return handle(context::getRemainingTimeInMillis);
    }

    /// Does one invocation.
    ///
    /// @param remainingMs how long it may take
    /// @return the answer's bytes
    public byte[] handle(LongSupplier remainingMs) {
        while (true) {
            long leftMs = remainingMs.getAsLong() - REMAINING_MS_MIN;
            if (leftMs <= 0) {
                out.println("WARN Others have written the published table all the time. The next wake-up looks again");
                return BatchResponse.DONE.json();
            }
            switch (publication.step(Duration.ofMillis(leftMs), false)) {
                case Outcome.Busy _ -> store.threads().pause(PAUSE);
                case Outcome.Nothing _ -> {
                    return BatchResponse.DONE.json();
                }
                case Outcome.Published(var cut, var at, var items, var written, var removed) -> {
                    out.println("INFO Cut " + cut + " of " + at + " is published: of " + items + " items " + written
                            + " were written, and " + removed + " others removed");
                    return BatchResponse.DONE.json();
                }
            }
        }
    }
}
