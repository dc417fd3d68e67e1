package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeltaTest {
    private static Delta between(@Nullable Contribution before, Contribution after) {
        return Delta.between(RandomContributions.PIPELINE, before, after);
    }

    @Test
    void steps_in_between_leave_nothing_behind() {
        Seeds.forAllSeeds(300, random -> {
            Contribution one = RandomContributions.contribution(random);
            Contribution two = RandomContributions.contribution(random);
            Contribution three = RandomContributions.contribution(random);
            Delta inSteps = between(null, one).plus(between(one, two)).plus(between(two, three));
            assertThat(inSteps).isEqualTo(between(null, three));
            assertThat(between(one, one).isNothing()).isTrue();
            assertThat(between(one, two).plus(between(two, one)).isNothing()).isTrue();
        });
    }

    @Test
    void the_order_of_adding_does_not_matter() {
        Seeds.forAllSeeds(300, random -> {
            Delta one = between(RandomContributions.contribution(random), RandomContributions.contribution(random));
            Delta two = between(RandomContributions.contribution(random), RandomContributions.contribution(random));
            Delta three = between(null, RandomContributions.contribution(random));
            assertThat(one.plus(two).plus(three)).isEqualTo(three.plus(two.plus(one)));
        });
    }

    @Test
    void leaves_apart_and_the_others_are_all_of_it() {
        Seeds.forAllSeeds(300, random -> {
            Delta delta = between(RandomContributions.contribution(random), RandomContributions.contribution(random))
                    .plus(between(null, RandomContributions.contribution(random)));
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
