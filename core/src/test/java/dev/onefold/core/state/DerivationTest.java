package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class DerivationTest {
    private static final Pipeline OLD = trades(r -> r.levels("desk", "region missing \"none\"")
            .sum("value", "value", 18, 2)
            .distinct("books", "book"));

    private static Pipeline trades(Consumer<PipelineBuilder.RollupBuilder> rollup) {
        return PipelineBuilder.named("trades")
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
        Pipeline next = PipelineBuilder.named("trades")
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
    void a_value_is_taken_at_the_scale_that_it_is_declared_with_now() {
        Derivation.Possible wider = (Derivation.Possible) Derivation.of(OLD, trades(r -> r.sum("s", "value", 19, 3)));
        assertThat(wider.mayRefuse()).isFalse();
        assertThat(wider.doubt()).isEmpty();
        assertThat(wider.of(counted("FX", "none")).amounts())
                .containsExactly(new Amount.Number(new BigDecimal("1.500")));
    }

    @Test
    void a_value_that_does_not_fit_what_it_is_declared_as_now_is_refused() {
        Pipeline narrow = trades(r -> r.sum("s", "value", 18, 1));
        Derivation.Possible narrower = (Derivation.Possible) Derivation.of(OLD, narrow);
        assertThat(narrower.doubt()).contains("field value was read as decimal(18,2) before", "decimal(18,1)");
        assertThat(narrower.refusal(counted("FX", "none"))).isEmpty();
        Contribution fine = new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of("FX", "none"))),
                List.of(new Amount.Number(new BigDecimal("1.55")), new Amount.Text("b")));
        assertThat(narrower.refusal(fine).orElseThrow().message())
                .startsWith("Field value is '1.55', which does not fit decimal(18,1)");
    }

    @Test
    void what_was_not_read_is_named() {
        assertThat(reason(trades(r -> r.levels("book").count("n")))).contains("level book of roll-up main");
        assertThat(reason(trades(r -> r.levels("region").count("n")))).contains("level region");
        assertThat(reason(trades(r -> r.distinct("n", "value")))).contains("field value", "as a text");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("id")
                        .version("v")
                        .delete("op = \"x\"")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("filter");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("id")
                        .version("v")
                        .filter("value > 0")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("delete");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("other")
                        .version("v")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("key, id or version");
        assertThat(reason(PipelineBuilder.named("t").rollup(r -> r.count("n")).build()))
                .contains("place");
    }
}
