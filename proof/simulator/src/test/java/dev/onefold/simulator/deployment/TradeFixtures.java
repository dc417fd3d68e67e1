package dev.onefold.simulator.deployment;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Delays;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Faults;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// What several tests of deployments do with trades.
public final class TradeFixtures {
    /// Sums of values and counts of trades, by desk.
    public static final Pipeline VALUES = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"))
            .build();

    /// Counts of trades, by desk.
    static final Pipeline COUNTS = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk").count("trades"))
            .build();

    private TradeFixtures() {}

    /// Transactions that take up to 400 ms.
    static Faults.Timing slow() {
        Faults.Timing usual = Faults.Timing.USUAL;
        return new Faults.Timing(
                usual.networkMax(),
                Duration.ofMillis(400),
                usual.lagMax(),
                usual.clientTimeout(),
                usual.zombieMax(),
                1,
                usual.creation());
    }

    /// Reduces a lane four times a second until it is over.
    public static void keepReducing(Deployment deployment, int lane, BooleanSupplier over) {
        if (over.getAsBoolean()) {
            return;
        }
        Store function = deployment.store(deployment.dynamo.client("function"));
        var _ = deployment
                .start(() -> Reduce.lane(function, lane, Duration.ofSeconds(2), new Delays()))
                .handle((_, _) -> {
                    deployment.time.schedule(Duration.ofMillis(250), () -> keepReducing(deployment, lane, over));
                    return null;
                });
    }

    /// Fills a second view of a pipeline, does something, and lets the second view serve alone.
    static void refill(Store filler, Pipeline pipeline, Runnable beforeItServes) {
        Definitions definitions = new Definitions(filler);
        Definition both = definitions.load().withView(pipeline, 1, "somebody");
        definitions.replace(both);
        RowFill.fill(filler, both, both.last(), () -> true);
        beforeItServes.run();
        definitions.replace(both.servingOnly(both.last()));
    }
}
