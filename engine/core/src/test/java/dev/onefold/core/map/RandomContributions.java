package dev.onefold.core.map;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.math.BigDecimal;
import java.util.List;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// Contributions to a pipeline that has a measure of each kind.
public final class RandomContributions {
    public static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(
                    "desks",
                    r -> r.levels("desk")
                            .sum("value", "value", 18, 2)
                            .measure("mean", "average(value) decimal(18,2)")
                            .min("least", "value", 18, 2)
                            .distinct("books", "book")
                            .count("n"))
            .rollup("all", r -> r.max("most", "value", 18, 2))
            .build();

    public static Contribution contribution(RandomGenerator random) {
        if (random.nextInt(5) == 0) {
            return new Contribution(
                    random.nextBoolean() ? Event.Kind.DELETE : Event.Kind.FILTERED, List.of(), List.of());
        }
        return new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of("desk" + random.nextInt(3))), Tuple.of(List.of())),
                List.of(
                        random.nextInt(4) == 0
                                ? new Amount.None()
                                : new Amount.Number(BigDecimal.valueOf(random.nextInt(500) - 250, 2)),
                        random.nextInt(4) == 0 ? new Amount.None() : new Amount.Text("b" + random.nextInt(3))));
    }

    private RandomContributions() {}

    /// The deltas of a random correction in some views.
    public static ViewDeltas deltas(RandomGenerator random) {
        TreeMap<Integer, Delta> views = new TreeMap<>();
        for (int view = random.nextInt(2); view < 3; view += 1 + random.nextInt(2)) {
            Contribution before = random.nextBoolean() ? null : contribution(random);
            views.put(view, Delta.between(PIPELINE, before, contribution(random)));
        }
        return new ViewDeltas(views);
    }
}
