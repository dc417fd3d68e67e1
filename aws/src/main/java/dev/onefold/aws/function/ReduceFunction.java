package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.reduce.Delays;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/// The function that brings deltas into the totals. What it is invoked with only wakes it: the lanes whose
/// deltas a stream tells of, or all of them each minute, for what no stream delivered. One invocation at a
/// time, as Lambda calls it.
public final class ReduceFunction implements Shell {
    private static final JsonFactory JSON = new JsonFactory();

    /// The next wake-ups of a stream's shard wait for this invocation, also those of other lanes.
    private static final Duration WOKEN_MAX = Duration.ofSeconds(2);

    /// Less than the least time-out that the function can have.
    private static final Duration SWEEP_MAX = Duration.ofSeconds(20);

    private final Store store;
    private final Metrics metrics;
    private final InjectedFailures failures;

    /// As Lambda makes it.
    public ReduceFunction() {
        this(Environment.ofProcess());
    }

    private ReduceFunction(Environment environment) {
        this(environment.store(), new Metrics(environment), environment.failOfMillion());
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public ReduceFunction(Store store, Metrics metrics) {
        this(store, metrics, 0);
    }

    ReduceFunction(Store store, Metrics metrics, int failOfMillion) {
        this.store = store;
        this.metrics = metrics;
        failures = InjectedFailures.of(failOfMillion, store, metrics);
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return failures.around(() -> handle(event));
    }

    /// Does one invocation; fails if a lane could not be reduced.
    ///
    /// @return the answer's bytes
    public byte[] handle(byte[] event) {
        switch (Invocation.read(event)) {
            case Invocation.Batch(var arrivals, var _) -> reduce(lanes(arrivals), WOKEN_MAX);
            case Invocation.Messages _, Invocation.Tick _ -> sweep();
        }
        return BatchResponse.DONE.json();
    }

    /// Reduces these lanes. The delays of the deltas that became visible are reported, even if a lane fails.
    private void reduce(Collection<Integer> lanes, Duration most) {
        Delays delays = new Delays();
        try {
            store.threads().each(lanes, lane -> Reduce.lane(store, lane, most, delays));
        } finally {
            metrics.write(store.clock().instant(), Metric.DelayMs, delays.counts());
        }
    }

    /// The lag comes first: what this invocation does about it must not hide it.
    private void sweep() {
        new Definitions(store).find().ifPresent(definition -> {
            lag(Lag.of(store, definition.lanes()).toMillis());
            reduce(IntStream.range(0, definition.lanes()).boxed().toList(), SWEEP_MAX);
        });
    }

    private void lag(long ms) {
        if (ms > 0) { // A metric that is not written costs nothing, and a deployment may sleep.
            metrics.write(store.clock().instant(), Map.of(Metric.OldestDeltaMs, ms));
        }
    }

    /// The lanes of the deltas that a stream tells of.
    private static SortedSet<Integer> lanes(List<Arrival> changes) {
        SortedSet<Integer> lanes = new TreeSet<>();
        for (Arrival change : changes) {
            try (JsonParser json = JSON.createParser(change.data())) {
                boolean keys = false;
                while (json.nextToken() != null) {
                    boolean named = json.currentToken() == JsonToken.FIELD_NAME;
                    keys |= named && json.currentName().equals("Keys");
                    if (keys && named && json.currentName().equals(DeltaItem.LANE)) {
                        lanes.add(Integer.parseInt(json.nextTextValue()));
                        break;
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException("A change of the deltas' table is not JSON", e);
            }
        }
        return lanes;
    }
}
