package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Seeds;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.math.BigDecimal;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeltaTest {
    private static final Pipeline PIPELINE = Pipeline.named("trades")
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

    private static Contribution contribution(RandomGenerator random) {
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

    private static Delta between(@Nullable Contribution before, Contribution after) {
        return Delta.between(PIPELINE, before, after);
    }

    @Test
    void steps_in_between_leave_nothing_behind() {
        Seeds.forAllSeeds(300, random -> {
            Contribution one = contribution(random);
            Contribution two = contribution(random);
            Contribution three = contribution(random);
            Delta inSteps = between(null, one).plus(between(one, two)).plus(between(two, three));
            assertThat(inSteps).isEqualTo(between(null, three));
            assertThat(between(one, one).isNothing()).isTrue();
            assertThat(between(one, two).plus(between(two, one)).isNothing()).isTrue();
        });
    }

    @Test
    void the_order_of_adding_does_not_matter() {
        Seeds.forAllSeeds(300, random -> {
            Delta one = between(contribution(random), contribution(random));
            Delta two = between(contribution(random), contribution(random));
            Delta three = between(null, contribution(random));
            assertThat(one.plus(two).plus(three)).isEqualTo(three.plus(two.plus(one)));
        });
    }

    @Test
    void leaves_apart_and_the_others_are_all_of_it() {
        Seeds.forAllSeeds(300, random -> {
            Delta delta = between(contribution(random), contribution(random)).plus(between(null, contribution(random)));
            int oneIn = 1 + random.nextInt(4);
            Delta some = delta.in(cell -> Long.remainderUnsigned(cell.hash(), oneIn) == 0);
            Delta others = delta.in(cell -> Long.remainderUnsigned(cell.hash(), oneIn) != 0);
            assertThat(some.plus(others)).isEqualTo(delta);
            assertThat(some.items() + others.items()).isEqualTo(delta.items());
        });
    }

    @Test
    void what_one_row_comes_to_is_known_by_hand() {
        Contribution row = new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of("FX")), Tuple.of(List.of())),
                List.of(new Amount.Number(new BigDecimal("1.50")), new Amount.Text("b")));
        Delta delta = between(null, row);
        assertThat(delta.cells()).hasSize(2);
        Delta.Sums sums = delta.cells().get(new Delta.Cell(0, Tuple.of(List.of("FX"))));
        assertThat(sums.rows()).isEqualTo(1);
        assertThat(sums.sums()).extracting(Object::toString).containsExactly("150", "150");
        assertThat(sums.counts()).containsExactly(1L, 1L);
        assertThat(delta.values().values()).containsOnly(1L).hasSize(3);
        assertThat(delta.items()).isEqualTo(5);
    }
}
