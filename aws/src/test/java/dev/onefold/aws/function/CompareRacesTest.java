package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What changes between two steps of a comparison, and what is said of steps that came to nothing.
class CompareRacesTest {
    private static final byte[] WAKE = ComparedShops.WAKE;

    private final ComparedShops shops = new ComparedShops();

    @Test
    void a_view_that_changes_between_two_invocations_begins_the_comparison_again() {
        shops.drift("viewed");
        shops.function(shops.store, false).handle(WAKE, ComparedShops.untilTheFirstLook());
        assertThat(shops.logged()).contains("Parts that are left: 1");
        String before = shops.comparison().of().rows();
        AwsEngine.deployed(shops.store).rebuild();
        shops.put("x", 1, "Ulm"); // It is in none of the ranges that the first look has left.
        shops.wake(false);
        assertThat(shops.comparison().of().rows()).isNotEqualTo(before);
        assertThat(shops.last().count(Kind.MISSING, Outcome.REPORTED)).isEqualTo(2);
    }

    @Test
    void a_view_that_changes_in_the_middle_of_an_invocation_is_no_comparison() {
        shops.drift("swapped");
        AtomicInteger asked = new AtomicInteger();
        assertThatThrownBy(() -> shops.function(shops.store, false).handle(WAKE, () -> {
                    if (asked.incrementAndGet() == 3) {
                        AwsEngine.deployed(shops.store).rebuild();
                    }
                    return 800_000;
                }))
                .hasMessageContaining("has another pipeline, meanwhile");
        shops.wake(false);
        assertThat(shops.logged()).contains("3 still differ");
    }

    @Test
    void a_table_that_is_replaced_between_two_invocations_is_compared_from_the_beginning() {
        shops.drift("remade");
        shops.function(shops.store, false).handle(WAKE, ComparedShops.untilTheFirstLook());
        shops.replaceTable();
        shops.put("b", 1, "Ulm");
        shops.put("d", 4, "Bonn");
        shops.put("e", 1, "Bonn");
        shops.wake(false);
        assertThat(shops.last().count(Kind.GHOST, Outcome.REPORTED)).isOne(); // a, whose range was equal before.
        assertThat(shops.last().left()).isOne();
    }

    @Test
    void nothing_is_repaired_by_a_table_that_replaces_the_one_that_is_compared() {
        shops.drift("restored");
        shops.function(shops.store, true).handle(WAKE, ComparedShops.untilTheFirstLook());
        AtomicInteger asked = new AtomicInteger();
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, () -> {
                    if (asked.incrementAndGet() == 2) { // In front of the second look.
                        shops.replaceTable();
                        shops.put("b", 1, "Ulm"); // The others are still to come.
                    }
                    return 800_000;
                }))
                .hasMessageContaining("was replaced by another table of its name");
        assertThat(shops.totals()).containsExactly("=[4]", "Bonn=[2]", "Ulm=[2]");
        assertThat(shops.logged()).doesNotContain("RowDifferences");
    }

    @Test
    void an_alarm_stays_on_while_a_failed_comparison_is_tried_again_in_parts() {
        shops.drift("retried");
        shops.dropTable();
        assertThatThrownBy(() -> shops.wake(false)).hasMessageContaining("There is no table Of-retried");
        shops.makeTable();
        shops.put("c", 1, "Ulm");
        assertThatThrownBy(() -> shops.function(shops.later(Duration.ofHours(1)), false)
                        .handle(WAKE, ComparedShops.untilTheFirstLook()))
                .hasMessageContaining("The last comparison failed: There is no table Of-retried");
        assertThat(shops.logged()).contains("goes on with the next wake-up");
        SeedLease seeding = SeedLease.begin(shops.later(Duration.ofHours(1)), 1);
        assertThatThrownBy(() -> shops.wake(Duration.ofHours(1), false))
                .hasMessageContaining("The last comparison failed: There is no table Of-retried");
        seeding.close();
        shops.wake(Duration.ofHours(1), false);
        assertThat(shops.comparison().failure()).isEmpty();
        shops.wake(Duration.ofHours(1), false);
    }

    @Test
    void neither_a_person_nor_another_setting_nor_another_view_ends_an_alarm_before_a_comparison_has_come_to_its_end() {
        shops.drift("asked");
        shops.dropTable();
        assertThatThrownBy(() -> shops.wake(false)).hasMessageContaining("There is no table Of-asked");
        assertThat(Comparison.begin(shops.store)).isTrue();
        assertThat(shops.comparison().failure()).contains("There is no table");
        shops.makeTable();
        shops.put("c", 1, "Ulm");
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, ComparedShops.untilTheFirstLook()))
                .hasMessageContaining("The last comparison failed: There is no table Of-asked");
        AwsEngine.deployed(shops.store).rebuild();
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, ComparedShops.untilTheFirstLook()))
                .hasMessageContaining("The last comparison failed: There is no table Of-asked");
        shops.wake(true);
        assertThat(shops.comparison().failure()).isEmpty();
    }

    @Test
    void repairs_of_a_killed_invocation_are_told_and_nobody_says_that_all_was_equal() {
        shops.drift("cut");
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, shops.untilSomethingIsRepaired()))
                .isInstanceOf(ComparedShops.Killed.class);
        assertThat(shops.totals()).containsExactly("=[4]", "Bonn=[2]", "Ulm=[2]");
        assertThat(shops.logged()).contains("\"RowDifferences\":3");
        shops.wake(Duration.ofMinutes(6), true);
        assertThat(shops.logged())
                .contains("WARN Comparison of ", "0 had drifted", "; repairs of attempts that did not end: 3");
        assertThat(shops.last().unended()).isEqualTo(3);
        assertThat(shops.last().isClean()).isFalse();
        assertThat(Comparison.begin(shops.later(Duration.ofMinutes(6)))).isTrue();
        shops.wake(Duration.ofMinutes(6), true);
        assertThat(shops.last().unended()).isZero();
    }

    @Test
    void repairs_of_a_comparison_that_failed_are_told_by_the_next_one() {
        shops.drift("broken");
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, () -> {
                    if (shops.hasLogged("RowDifferences")) {
                        throw new IllegalStateException("The network is gone");
                    }
                    return 800_000;
                }))
                .hasMessageContaining("The network is gone");
        shops.logged();
        shops.wake(Duration.ofHours(1), true);
        assertThat(shops.logged()).contains("0 had drifted", "repairs of attempts that did not end: 3");
        assertThat(shops.last().isClean()).isFalse();
    }

    @Test
    void rows_to_remove_that_a_killed_invocation_has_found_are_not_counted_twice() {
        shops.begin("twice");
        shops.ghosts("g", 60);
        shops.put("a", 1, "Ulm");
        PrintStream deadly = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                throw new ComparedShops.Killed(); // Behind the note, and before the first repair.
            }
        };
        assertThatThrownBy(() -> shops.function(shops.store, true, Duration.ofHours(24), deadly)
                        .handle(WAKE, ComparedShops::plenty))
                .isInstanceOf(ComparedShops.Killed.class);
        shops.wake(Duration.ofMinutes(6), true);
        assertThat(shops.logged()).contains("ghost: 60 repaired", "0 still differ");
        assertThat(shops.totals()).containsExactly("=[1]", "Ulm=[1]");
    }

    @Test
    void rows_that_failed_comparisons_have_removed_count_against_the_limit() {
        shops.begin("limited");
        shops.ghosts("g", 60);
        shops.put("a", 1, "Ulm");
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(WAKE, () -> {
                    if (shops.hasLogged("RowDifferences")) {
                        throw new IllegalStateException("The network is gone");
                    }
                    return 800_000;
                }))
                .hasMessageContaining("The network is gone");
        assertThat(shops.totals()).containsExactly("=[1]", "Ulm=[1]");
        shops.logged();
        shops.ghosts("h", 60);
        shops.wake(Duration.ofHours(1), true);
        assertThat(shops.logged()).contains("ghost: 60 held back", "60 still differ");
        assertThat(Comparison.begin(shops.store)).isTrue(); // One was complete, so the next one counts from nothing.
        shops.wake(Duration.ofHours(1), true);
        assertThat(shops.logged()).contains("ghost: 60 repaired", "0 still differ");
    }

    @Test
    void invocations_that_are_killed_while_they_repair_are_a_failure_after_three() {
        shops.drift("dying");
        PrintStream deadly = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                throw new ComparedShops.Killed();
            }
        };
        for (int i = 0; i < 4; i++) {
            CompareFunction function =
                    shops.function(shops.later(Duration.ofMinutes(6L * i)), true, Duration.ofHours(24), deadly);
            assertThatThrownBy(() -> function.handle(WAKE, ComparedShops::plenty))
                    .isInstanceOf(ComparedShops.Killed.class);
        }
        assertThatThrownBy(() -> shops.wake(Duration.ofMinutes(24), true))
                .hasMessageContaining("3 invocations in a row were ended in the middle");
    }

    @Test
    void an_invocation_that_was_taken_for_dead_repairs_nothing_and_says_nothing_when_it_wakes_up() {
        shops.drift("zombie");
        PrintStream sleepy = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) { // Behind the note, and before the first repair.
                shops.wake(Duration.ofMinutes(6), true);
            }
        };
        CompareFunction zombie = shops.function(shops.store, true, Duration.ofHours(24), sleepy);
        assertThatThrownBy(() -> zombie.handle(WAKE, ComparedShops::plenty))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nothing was heard of this one");
        assertThat(shops.logged()).contains("3 had drifted, 0 still differ", "repairs of attempts that did not end: 3");
        assertThat(shops.comparison().failure()).isEmpty();
        assertThat(shops.last().count(Kind.GHOST, Outcome.REPAIRED)).isOne();
        assertThat(shops.totals()).containsExactly("=[4]", "Bonn=[2]", "Ulm=[2]");
    }

    @Test
    void a_live_change_that_comes_between_the_note_and_the_repair_stays() {
        shops.drift("raced");
        PrintStream racing = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                shops.live(
                        ComparedShops.row("b", 3, "Trier"),
                        "{\"id\":\"c\",\"v\":2,\"gone\":true}",
                        ComparedShops.row("d", 5, "Trier"));
            }
        };
        shops.function(shops.store, true, Duration.ofHours(24), racing).handle(WAKE, ComparedShops::plenty);
        assertThat(shops.last().count(Kind.DIFFERENT, Outcome.OVERTAKEN)).isOne();
        assertThat(shops.last().count(Kind.MISSING, Outcome.OVERTAKEN)).isOne();
        assertThat(shops.last().count(Kind.GHOST, Outcome.OVERTAKEN)).isOne();
        assertThat(shops.totals()).contains("Trier=[2]", "Ulm=[1]");
    }

    @Test
    void seedings_that_never_end_make_the_first_comparison_overdue() {
        shops.drift("seeded");
        try (SeedLease _ = SeedLease.begin(shops.store, 1)) {
            shops.wake(false);
        }
        try (SeedLease _ = SeedLease.begin(shops.later(Duration.ofHours(49)), 1)) {
            assertThatThrownBy(() -> shops.wake(Duration.ofHours(49), false))
                    .hasMessageContaining("No comparison has come to its end since ");
        }
    }

    @Test
    void a_clock_that_was_wrong_once_does_not_put_the_next_comparison_off_for_years() {
        shops.drift("early");
        shops.wake(Duration.ofDays(4_000), false);
        shops.logged();
        shops.wake(false);
        assertThat(shops.logged()).contains("Comparison of ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "{}", "{\"input\":null}", "{\"detail\":{\"input\":\"arn:aws:kinesis:x\"}}"})
    void an_event_that_names_no_stream_is_refused_because_what_state_has_not_taken_would_look_lost(String event) {
        shops.drift("unnamed" + Integer.toHexString(event.hashCode()));
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        assertThatThrownBy(() -> shops.function(shops.store, true)
                        .handleRequest(new ByteArrayInputStream(event.getBytes(StandardCharsets.UTF_8)), answer, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(shops.logged())
                .contains("ERROR The event names no stream", "'onefold aws compared PIPELINE --again'");
        assertThat(Comparison.find(shops.store)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"[]", "5", "{\"input\":5}", "{\"input\":\"favourites\"}", "{\"input\":{\"a\":1}}", "{", "arn"})
    void an_event_of_another_form_is_refused(String event) {
        shops.begin("other" + Integer.toHexString(event.hashCode()));
        assertThatThrownBy(() -> shops.function(shops.store, true)
                        .handle(event.getBytes(StandardCharsets.UTF_8), ComparedShops::plenty))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .containsAnyOf("An event is an object", "is not the ARN of a stream", "is not JSON");
    }
}
