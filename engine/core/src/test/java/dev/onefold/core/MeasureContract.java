package dev.onefold.core;

import static dev.onefold.core.EngineContract.totals;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The measures of a roll-up beyond sums of one field.
public interface MeasureContract extends LetterContract {
    private static String order(String id, int version, String status, String price, String quantity) {
        return "{\"id\":\"%s\",\"v\":%d,\"status\":\"%s\",\"price\":%s,\"qty\":%s,\"at\":%d}"
                .formatted(id, version, status, price, quantity, 1_000 * version);
    }

    @Test
    default void measures_take_the_records_of_a_condition_and_the_products_of_fields() {
        Pipeline orders = PipelineBuilder.named("orders")
                .key("id")
                .version("v")
                .rollup(r -> r.count("orders")
                        .count("paid", "status = 'paid'")
                        .sum("value", "price * qty", 18, 2)
                        .measure("paidValue", "sum(price * qty) decimal(18,2) where status = 'paid'")
                        .measure("statuses", "distinct(status) where qty > 1"))
                .build();
        try (Engine engine = open("data", orders)) {
            feed(
                    engine,
                    "one",
                    List.of(
                            order("a", 1, "open", "2.50", "3"),
                            order("b", 1, "paid", "0.10", "0.5"),
                            order("c", 1, "paid", "0.01", "0.5")));
            assertThat(totals(engine)).containsExactly("=2,1,7.55,0.05,1");
            assertThat(engine.counts().rejected()).isEqualTo(1);
            feed(engine, "one", List.of(order("a", 2, "paid", "2.50", "4"), order("b", 2, "open", "1", "1")));
            assertThat(totals(engine)).containsExactly("=2,1,11.00,10.00,1");
        }
    }

    @Test
    default void formulas_are_calculated_from_the_measures_of_each_group() {
        Pipeline orders = PipelineBuilder.named("shares")
                .key("id")
                .version("v")
                .time("at", TimeType.EPOCH_MILLIS)
                .rollup(r -> r.levels("status")
                        .count("orders")
                        .formula("each", "sum(qty) decimal(9,2) / orders", 9, 2)
                        .formula("dear", "(count() where price > 1) / orders * 100", 5, 1)
                        .measure("seconds", "(max(at) - min(at)) decimal(12,3)")
                        .formula("none", "orders / (orders - 1)", 9, 0))
                .build();
        try (Engine engine = open("data", orders)) {
            assertThat(totals(engine)).containsExactly("=0,null,null,null,0");
            feed(
                    engine,
                    "one",
                    List.of(
                            order("a", 1, "paid", "2.50", "1"),
                            order("b", 4, "paid", "1", "0.75"),
                            order("c", 2, "open", "1.01", "0.01")));
            assertThat(totals(engine))
                    .containsExactly(
                            "=3,0.59,66.7,3.000,2", "open=1,0.01,100.0,0.000,null", "paid=2,0.88,50.0,3.000,2");
            Query top = new Query("main", List.of(), 1, new Query.Top(1, "dear"));
            assertThat(engine.query(top).lines()).extracting(Answer.Line::group).containsExactly(List.of("open"));
            assertThat(engine.verify().isEqual()).isTrue();
            feed(engine, "one", List.of(order("c", 3, "paid", "0.01", "0.25")));
            assertThat(totals(engine)).containsExactly("=3,0.67,33.3,3.000,2", "paid=3,0.67,33.3,3.000,2");
        }
    }

    @Test
    default void the_first_and_the_last_time_follow_corrections() {
        Pipeline orders = PipelineBuilder.named("times")
                .key("id")
                .version("v")
                .time("at", TimeType.EPOCH_MILLIS)
                .rollup(r -> r.measure("first", "min(at)").measure("last", "max(at, epoch-millis) decimal(13,3)"))
                .build();
        try (Engine engine = open("data", orders)) {
            feed(engine, "one", List.of(order("a", 1, "", "1", "1"), order("b", 7, "", "1", "1")));
            assertThat(totals(engine)).containsExactly("=1.000000000,7.000");
            feed(engine, "one", List.of(order("a", 5, "", "1", "1")));
            assertThat(totals(engine)).containsExactly("=5.000000000,7.000");
        }
    }
}
