package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.aws.Arrival;
import dev.onefold.aws.Connection;
import dev.onefold.aws.Store;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/// The function that brings deltas into the totals. What it is invoked with only wakes it: the lanes whose deltas a
/// stream tells of, or all of them each minute, for what no stream delivered. One invocation at a time, as Lambda calls
/// it.
public final class ReduceFunction implements RequestStreamHandler {
    private static final JsonFactory JSON = new JsonFactory();

    private final Store store;
    private final Metrics metrics;

    /// As Lambda makes it.
    public ReduceFunction() {
        this(Environment.of(System.getenv()));
    }

    private ReduceFunction(Environment environment) {
        this(Connection.store(StateFunction.tables(environment)), new Metrics(System.out, environment.stack()));
    }

    ReduceFunction(Store store, Metrics metrics) {
        this.store = store;
        this.metrics = metrics;
    }

    @Override
    public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        Invocation invocation = Invocation.read(in.readNBytes(Invocation.EVENT_BYTES_MAX + 1));
        switch (invocation) {
            case Invocation.Batch(var arrivals) -> reduce(lanes(arrivals));
            case Invocation.Messages _, Invocation.Tick _ -> sweep();
        }
        out.write(BatchResponse.DONE.json());
    }

    private void reduce(Iterable<Integer> lanes) {
        List<CompletableFuture<Long>> under = new java.util.ArrayList<>();
        lanes.forEach(lane -> under.add(Reduce.lane(store, lane)));
        under.forEach(Connection.JOIN::of);
    }

    /// The lag comes first: what this invocation does about it must not hide it.
    private void sweep() {
        var found = Connection.JOIN.of(new Definitions(store).find());
        if (found.isEmpty()) {
            metrics.write(store.clock().instant(), Map.of(Metric.OldestDeltaMs, 0L));
            return; // No record has come yet.
        }
        int lanes = found.get().lanes();
        long lag = Connection.JOIN.of(Lag.of(store, lanes)).toMillis();
        metrics.write(store.clock().instant(), Map.of(Metric.OldestDeltaMs, lag));
        reduce(IntStream.range(0, lanes).boxed().toList());
    }

    /// The lanes of the deltas that a stream tells of.
    private static SortedSet<Integer> lanes(List<Arrival> changes) throws IOException {
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
            }
        }
        return lanes;
    }
}
