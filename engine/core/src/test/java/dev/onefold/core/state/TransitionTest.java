package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransitionTest {
    private static Row row(long version, Contribution payload, String source) {
        return new Row(
                List.of("a"), new Version(BigInteger.valueOf(version), Version.Kind.NUMBER), payload, source, version);
    }

    private static Contribution counted(String group, long amount) {
        return new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of(group))),
                List.of(new Amount.Number(BigDecimal.valueOf(amount))));
    }

    private static Contribution of(Event.Kind kind) {
        return new Contribution(kind, List.of(), List.of());
    }

    @Test
    void the_first_row_of_a_key_and_each_higher_version_change_it() {
        Row first = row(1, counted("x", 1), "s");
        Row second = row(2, counted("x", 1), "s");
        assertThat(Transition.of(null, first, false)).isEqualTo(new Transition.Changed(null, first));
        assertThat(Transition.of(first, second, false)).isEqualTo(new Transition.Changed(first, second));
    }

    @ParameterizedTest
    @CsvSource({"-1, -2", "0, -1", "1, 0", "256, 255"})
    void a_lower_version_is_stale_whatever_it_contributes(long stored, long arrived) {
        Row row = row(stored, of(Event.Kind.FILTERED), "s");
        assertThat(Transition.of(row, row(arrived, of(Event.Kind.DELETE), "s"), false))
                .isEqualTo(new Transition.Stale(row.version()));
    }

    @Test
    void the_same_version_and_contribution_is_a_duplicate_wherever_it_comes_from() {
        assertThat(Transition.of(row(1, counted("x", 1), "s"), row(1, counted("x", 1), "another"), false))
                .isEqualTo(new Transition.Duplicate());
    }

    @Test
    void in_a_log_of_changes_a_removal_at_the_version_of_its_row_is_newer_and_no_conflict() {
        Row there = row(7, counted("x", 1), "s");
        Row gone = row(7, of(Event.Kind.DELETE), "s");
        assertThat(Transition.of(there, gone, true)).isEqualTo(new Transition.Changed(there, gone));
        assertThat(Transition.of(gone, there, true)).isEqualTo(new Transition.Stale(gone.version()));
        assertThat(Transition.of(gone, gone, true)).isEqualTo(new Transition.Duplicate());
        Row other = row(7, counted("x", 2), "s");
        assertThat(Transition.of(there, other, true)).isEqualTo(new Transition.Settled(other, there, true));
    }

    @Test
    void of_two_contents_the_greater_one_stays_whichever_came_first() {
        List<Contribution> ascending = List.of(
                of(Event.Kind.FILTERED), counted("x", 1), counted("x", 2), counted("y", 1), of(Event.Kind.DELETE));
        for (int low = 0; low < ascending.size(); low++) {
            for (int high = low + 1; high < ascending.size(); high++) {
                Row loser = row(7, ascending.get(low), "loser");
                Row winner = row(7, ascending.get(high), "winner");
                assertThat(Transition.of(loser, winner, false)).isEqualTo(new Transition.Settled(winner, loser, true));
                assertThat(Transition.of(winner, loser, false)).isEqualTo(new Transition.Settled(winner, loser, false));
            }
        }
    }
}
