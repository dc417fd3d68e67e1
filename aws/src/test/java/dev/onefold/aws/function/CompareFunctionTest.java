package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.store.Store;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CompareFunctionTest {
    private static final byte[] WAKE = ComparedShops.WAKE;

    private final ComparedShops shops = new ComparedShops();

    @Test
    void what_differs_is_counted_logged_without_a_key_and_kept_for_a_person() {
        shops.drift("compared");
        shops.wake(false);
        assertThat(shops.logged())
                .contains("\"RowDifferences\":3")
                .contains("ERROR Comparison of ", " with dynamodb:Of-compared: 4 rows, read 2 times;")
                .contains("3 had drifted, 3 still differ; missing: 1 reported; different: 1 reported, 1 explained;")
                .contains("ghost: 1 reported", "'onefold aws verify --against dynamodb:Of-compared' names them")
                .doesNotContain("Trier", "Ulm", "Bonn");
        assertThat(shops.last().left()).isEqualTo(3);
        assertThat(shops.last().count(Kind.DIFFERENT, Outcome.EXPLAINED)).isOne();
        shops.wake(false);
        assertThat(shops.logged()) // Another one is not due, and an alarm goes on until one has found no difference.
                .contains("\"RowDifferences\":3")
                .doesNotContain("Comparison of ");
        shops.wake(Duration.ofHours(24), false);
        assertThat(shops.logged()).contains("3 still differ");
    }

    @Test
    void what_differs_is_repaired_and_was_counted_before() {
        shops.drift("repaired");
        shops.wake(true);
        assertThat(shops.logged())
                .contains("\"RowDifferences\":3", "\"RowDifferences\":0")
                .contains("WARN Comparison of ", "3 had drifted, 0 still differ", "ghost: 1 repaired");
        assertThat(shops.totals()).containsExactly("=[4]", "Bonn=[2]", "Ulm=[2]");
        assertThat(Comparison.begin(shops.store)).isTrue();
        shops.wake(true);
        assertThat(shops.logged())
                .contains("INFO Comparison of ", "0 had drifted")
                .contains("explained");
        assertThat(ResyncTurn.take(shops.store)).isPresent(); // The function has given its turn back.
    }

    @Test
    void one_invocation_compares_at_a_time() {
        shops.drift("alone");
        AtomicInteger inside = new AtomicInteger();
        shops.function(shops.store, false).handle(WAKE, () -> {
            if (inside.incrementAndGet() == 2) { // Meanwhile another wake-up comes.
                shops.function(shops.store, false).handle(WAKE, () -> 800_000);
            }
            return 800_000;
        });
        assertThat(shops.logged())
                .contains("INFO Nothing is compared now: Another invocation compares")
                .containsOnlyOnce("3 still differ");
        ResyncTurn other = ResyncTurn.take(shops.store).orElseThrow();
        shops.wake(true); // A function with other settings begins at once.
        assertThat(shops.logged()).contains("Nothing is compared now: Another re-sync repairs");
        other.release();
        SeedLease seeding = SeedLease.begin(shops.store, 1);
        shops.wake(true);
        assertThat(shops.logged()).contains("Nothing is compared now: A seeding is under way");
        seeding.close();
        shops.wake(true);
        assertThat(shops.logged()).contains("0 still differ");
    }

    /// After the first look the time is nearly over.
    @Test
    void the_second_look_is_taken_by_the_next_invocation_if_the_time_is_over() {
        shops.drift("parts");
        shops.function(shops.store, true).handle(WAKE, ComparedShops.untilTheFirstLook());
        assertThat(shops.logged()).contains("goes on with the next wake-up. Parts that are left: 1");
        assertThat(shops.comparison().isUnderWay()).isTrue();
        assertThat(Comparison.begin(shops.store)).isFalse();
        assertThat(shops.totals()).contains("Ulm=[2]", "Bonn=[2]").hasSize(3);
        shops.wake(Duration.ofMinutes(5), true);
        assertThat(shops.logged()).contains("4 rows, read 2 times; 3 had drifted, 0 still differ");
        assertThat(shops.last().readings()).isEqualTo(2);
    }

    @Test
    void a_reading_that_does_not_fit_into_an_invocation_is_said_at_each_wake_up() {
        shops.drift("large");
        AtomicInteger asked = new AtomicInteger();
        assertThatThrownBy(() -> shops.function(shops.store, false)
                        .handle(WAKE, () -> asked.incrementAndGet() < 3 ? 800_000 : 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has not ended within the 13 minutes of an invocation");
        assertThat(shops.logged()).contains("ERROR The rows were not compared with dynamodb:Of-large: One reading");
        assertThatThrownBy(() -> shops.wake(false)).hasMessageContaining("has not ended within the 13 minutes");
        assertThatThrownBy(() -> shops.wake(Duration.ofHours(1), false)).hasMessageContaining("has not ended within");
        shops.wake(Duration.ofHours(25), false);
        assertThat(shops.logged()).contains("3 still differ");
        assertThat(shops.comparison().failure()).isEmpty();
    }

    @Test
    void a_source_that_cannot_be_read_fails_each_wake_up_until_a_comparison_has_come_to_its_end() {
        shops.begin("failing");
        String there = shops.table;
        shops.table = "Of-nobody";
        assertThatThrownBy(() -> shops.wake(false)).hasMessageContaining("There is no table Of-nobody");
        assertThatThrownBy(() -> shops.wake(false)).hasMessageContaining("There is no table Of-nobody");
        assertThat(shops.logged()).contains("Tried again from ");
        assertThat(shops.comparison().failure()).contains("There is no table");
        assertThatThrownBy(() -> shops.wake(Duration.ofHours(49), false)).hasMessageContaining("There is no table");
        shops.table = there;
        shops.wake(false);
        assertThat(shops.logged()).contains("INFO Comparison of ", ": 0 rows, read 1 time; 0 had drifted");
    }

    @Test
    void an_invocation_that_is_killed_leaves_its_place_after_two_minutes_and_three_of_them_are_a_failure() {
        shops.drift("killed");
        for (int i = 0; i < 3; i++) {
            Store at = shops.later(Duration.ofMinutes(3L * i));
            AtomicInteger asked = new AtomicInteger();
            assertThatThrownBy(() -> shops.function(at, false).handle(WAKE, () -> {
                        if (asked.incrementAndGet() > 2) {
                            throw new ComparedShops.Killed();
                        }
                        return 800_000;
                    }))
                    .isInstanceOf(ComparedShops.Killed.class);
            shops.logged();
            shops.function(at, false).handle(WAKE, ComparedShops::plenty);
            assertThat(shops.logged()).contains("Another invocation compares");
        }
        assertThatThrownBy(() -> shops.wake(Duration.ofMinutes(9), false))
                .hasMessageContaining("3 invocations in a row were ended in the middle");
        shops.wake(Duration.ofHours(25), false);
        assertThat(shops.logged()).contains("3 still differ");
    }

    @Test
    void a_comparison_that_always_has_to_wait_is_overdue() {
        shops.drift("overdue");
        shops.wake(false);
        shops.logged();
        Store late = shops.later(Duration.ofHours(49));
        SeedLease seeding = SeedLease.begin(late, 1);
        assertThatThrownBy(() -> shops.function(late, false).handle(WAKE, ComparedShops::plenty))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("No comparison has come to its end since ")
                .hasMessageContaining("one is wanted every 24 hours");
        seeding.close();
        shops.function(late, false).handle(WAKE, ComparedShops::plenty);
        assertThat(shops.logged()).contains("3 still differ");
    }

    @Test
    @Tag("campaign")
    void too_many_rows_are_never_removed() {
        shops.begin("guarded");
        shops.ghosts("r", 110);
        shops.put("r0", 1, "Ulm");
        shops.wake(true);
        assertThat(shops.logged())
                .contains("\"RowDifferences\":109", "ERROR Comparison of ", "ghost: 109 held back", "109 still differ");
        assertThat(shops.last().heldBack()).isEqualTo(109);
        assertThat(shops.totals()).containsExactly("=[110]", "Ulm=[110]");
    }

    @Test
    void a_deployment_that_has_taken_no_record_is_left_alone() {
        shops.store = ComparedShops.DYNAMO.store("unborn");
        shops.table = "Of-unborn";
        shops.wake(false);
        assertThat(shops.logged()).contains("State has taken no record yet");
        assertThat(Comparison.find(shops.store)).isEmpty();
    }

    @Test
    void a_shorter_interval_holds_from_the_next_wake_up_on() {
        shops.drift("shorter");
        shops.function(shops.store, false, Duration.ofDays(30)).handle(WAKE, ComparedShops::plenty);
        shops.logged();
        shops.wake(Duration.ofHours(25), false);
        assertThat(shops.logged()).contains("Comparison of ");
    }

    @Test
    void rows_are_not_compared_with_a_table_whose_stream_the_deployment_does_not_read() {
        shops.drift("foreign");
        byte[] event = ("{\"input\":\"arn:aws:dynamodb:eu-central-1:123456789012:table/Another/stream/"
                        + "2026-01-01T00:00:00.000\"}")
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> shops.function(shops.store, true).handle(event, ComparedShops::plenty))
                .hasMessageContaining("Another/2026-01-01T00:00:00.000, which is not one of table Of-foreign");
        assertThatThrownBy(() -> shops.wake(true)).as("until one is complete").hasMessageContaining("not one of table");
    }
}
