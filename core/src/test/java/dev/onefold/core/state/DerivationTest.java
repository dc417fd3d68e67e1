package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.PipelineBuilder;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class DerivationTest {
    private static final Pipeline OLD = trades(r -> r.levels("desk", "region missing \"none\"")
            .sum("value", "value", 18, 2)
            .distinct("books", "book"));

    private static Pipeline trades(Consumer<PipelineBuilder.RollupBuilder> rollup) {
        return Pipeline.named("trades")
                .key("id")
                .version("v")
                .delete("op = \"x\"")
                .filter("value > 0")
                .rollup(rollup)
                .build();
    }

    private static Contribution counted(String desk, String region) {
        return new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of(desk, region))),
                List.of(new Amount.Number(new BigDecimal("1.50")), new Amount.Text("b")));
    }

    private static String reason(Pipeline next) {
        return ((Derivation.Impossible) Derivation.of(OLD, next)).reason();
    }

    @Test
    void levels_and_inputs_that_were_read_are_put_together_anew() {
        Pipeline next = Pipeline.named("trades")
                .key("id")
                .version("v")
                .delete("op = \"x\"")
                .filter("value > 0")
                .rollup(
                        "books",
                        r -> r.levels("region missing \"none\"", "desk").distinct("n", "book"))
                .rollup("all", r -> r.measure("mean", "average(value) decimal(18,2)"))
                .build();
        Derivation.Possible possible = (Derivation.Possible) Derivation.of(OLD, next);
        assertThat(possible.of(counted("FX", "EMEA")))
                .isEqualTo(new Contribution(
                        Event.Kind.COUNTED,
                        List.of(Tuple.of(List.of("EMEA", "FX")), Tuple.of(List.of())),
                        List.of(new Amount.Text("b"), new Amount.Number(new BigDecimal("1.50")))));
    }

    @Test
    void what_contributes_nothing_does_so_under_every_definition() {
        Derivation.Possible possible = (Derivation.Possible)
                Derivation.of(OLD, trades(r -> r.levels("desk").count("n")));
        for (Event.Kind kind : List.of(Event.Kind.DELETE, Event.Kind.FILTERED)) {
            Contribution nothing = new Contribution(kind, List.of(), List.of());
            assertThat(possible.of(nothing)).isEqualTo(nothing);
        }
    }

    @Test
    void the_same_definition_is_derived_from_itself_without_a_change() {
        Derivation.Possible possible = (Derivation.Possible) Derivation.of(OLD, OLD);
        assertThat(possible.of(counted("FX", "none"))).isEqualTo(counted("FX", "none"));
    }

    @Test
    void what_was_not_read_is_named() {
        assertThat(reason(trades(r -> r.levels("book").count("n")))).contains("level book of roll-up main");
        assertThat(reason(trades(r -> r.levels("region").count("n")))).contains("level region");
        assertThat(reason(trades(r -> r.sum("s", "value", 18, 3)))).contains("field value", "decimal(18,3)");
        assertThat(reason(Pipeline.named("t")
                        .key("id")
                        .version("v")
                        .delete("op = \"x\"")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("filter");
        assertThat(reason(Pipeline.named("t")
                        .key("id")
                        .version("v")
                        .filter("value > 0")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("delete");
        assertThat(reason(Pipeline.named("t")
                        .key("other")
                        .version("v")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("key, id or version");
        assertThat(reason(Pipeline.named("t").rollup(r -> r.count("n")).build()))
                .contains("place");
    }
}
