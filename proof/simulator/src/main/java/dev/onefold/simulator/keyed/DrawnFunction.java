package dev.onefold.simulator.keyed;

import static dev.onefold.oracle.KeyedOracle.value;

import dev.onefold.oracle.KeyedOracle.Failed;
import dev.onefold.oracle.KeyedOracle.Outcome;
import dev.onefold.oracle.generate.RandomFunction;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A function that was drawn at random, as a user would write it.
public final class DrawnFunction implements Processor<DrawnFunction.Context, DrawnFunction.Event> {
    private final RandomFunction drawn;

    DrawnFunction(RandomFunction drawn) {
        this.drawn = drawn;
    }

    /// A context.
    public record Context(long trail, int count) {}

    /// An event; of two contents of a version the one with the greater rank has the greater bytes.
    ///
    /// @param rank 0 to 9
    public record Event(int rank, String k, int amount, String what) {}

    /// A row of table `buckets`.
    public record Bucket(String k, long bucket, long trail) {}

    /// The row of table `last`.
    public record Last(String k, long trail, int count) {}

    /// A row of table `places`, which all keys write.
    public record Place(long place, String k, long trail) {}

    @Override
    public Context start() {
        Map<String, Object> start = drawn.start();
        return new Context((long) value(start, "trail"), (int) value(start, "count"));
    }

    @Override
    public Step<Context> step(Context context, Event event) {
        Outcome outcome;
        try {
            outcome = drawn.step(
                    event.k(),
                    Map.of("trail", context.trail(), "count", context.count()),
                    Map.of("amount", event.amount(), "what", event.what()));
        } catch (Failed e) {
            throw new IllegalStateException("The function fails here", e);
        }
        Step<Context> step =
                Step.to(new Context((long) value(outcome.context(), "trail"), (int) value(outcome.context(), "count")));
        for (Map.Entry<List<String>, Optional<Map<String, Object>>> row :
                outcome.rows().entrySet()) {
            step = write(step, event.k(), row.getKey(), row.getValue());
        }
        return step;
    }

    private static Step<Context> write(
            Step<Context> step, String key, List<String> row, Optional<Map<String, Object>> fields) {
        String table = row.getFirst();
        if (fields.isEmpty()) {
            long part = Long.parseLong(row.get(1));
            return table.equals("places") ? step.remove(table, part) : step.remove(table, key, part);
        }
        Map<String, Object> values = fields.get();
        long trail = (long) value(values, "trail");
        return step.put(
                table,
                switch (table) {
                    case "last" -> new Last(key, trail, (int) value(values, "count"));
                    case "places" -> new Place((long) value(values, "place"), key, trail);
                    default -> new Bucket(key, (long) value(values, "bucket"), trail);
                });
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return drawn.places() == 0
                ? Map.of("buckets", Bucket.class, "last", Last.class)
                : Map.of("buckets", Bucket.class, "last", Last.class, "places", Place.class);
    }
}
