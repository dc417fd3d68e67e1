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
        if (fields.isEmpty()) {
            return step.remove("buckets", key, Long.parseLong(row.get(1)));
        }
        Map<String, Object> values = fields.get();
        return row.getFirst().equals("last")
                ? step.put("last", new Last(key, (long) value(values, "trail"), (int) value(values, "count")))
                : step.put("buckets", new Bucket(key, (long) value(values, "bucket"), (long) value(values, "trail")));
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("buckets", Bucket.class, "last", Last.class);
    }
}
