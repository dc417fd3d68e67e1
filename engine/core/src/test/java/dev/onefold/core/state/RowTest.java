package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class RowTest {
    private static Version version(long number) {
        return new Version(BigInteger.valueOf(number), Version.Kind.NUMBER);
    }

    private static Contribution contribution(int which) {
        return which < 2
                ? new Contribution(which == 0 ? Event.Kind.DELETE : Event.Kind.FILTERED, List.of(), List.of())
                : new Contribution(Event.Kind.COUNTED, List.of(Tuple.of(List.of("g" + which))), List.of());
    }

    private static Row row(RandomGenerator random) {
        return new Row(
                List.of("a"), version(random.nextInt(3)), contribution(random.nextInt(4)), "s", random.nextInt(9));
    }

    @Test
    void it_is_older_than_a_higher_version_only() {
        Row row = new Row(List.of("a"), version(7), contribution(0), "s", 3);
        assertThat(row.isOlderThan(version(8))).isTrue();
        assertThat(row.isOlderThan(version(7))).isFalse();
        assertThat(row.isOlderThan(version(6))).isFalse();
        assertThat(row.isOlderThan(Version.NONE)).isFalse();
        Row negative = new Row(List.of("a"), version(-1), contribution(0), "s", 3);
        assertThat(negative.isOlderThan(Version.NONE)).isFalse();
        assertThat(negative.isOlderThan(version(0))).isTrue();
    }

    @Test
    void another_payload_leaves_the_rest_as_it_is() {
        assertThat(new Row(List.of("a"), version(7), contribution(0), "s", 3).with(contribution(2)))
                .isEqualTo(new Row(List.of("a"), version(7), contribution(2), "s", 3));
    }

    @Test
    void the_row_that_stays_is_the_greater_one_in_the_order_of_rows() {
        Seeds.forAllSeeds(300, random -> {
            Row stored = row(random);
            Row arrived = row(random);
            int order = Row.ORDER.compare(arrived, stored);
            boolean arrivedStays = switch (Transition.of(stored, arrived, false)) {
                case Transition.Changed _ -> true;
                case Transition.Settled settled -> settled.arrivedStays();
                case Transition.Stale _ -> false;
                case Transition.Duplicate _ -> {
                    assertThat(order).isZero();
                    yield false;
                }
            };
            assertThat(arrivedStays).isEqualTo(order > 0);
        });
    }
}
