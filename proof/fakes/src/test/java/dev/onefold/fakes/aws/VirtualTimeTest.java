package dev.onefold.fakes.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final List<String> done = new ArrayList<>();

    @Test
    void actions_are_done_in_the_order_of_their_instants_and_then_as_they_were_asked_for() {
        time.schedule(Duration.ofSeconds(2), () -> done.add("third"));
        time.schedule(Duration.ofSeconds(1), () -> done.add("first"));
        time.schedule(Duration.ofSeconds(1), () -> done.add("second"));
        time.runUntilIdle();
        assertThat(done).containsExactly("first", "second", "third");
        assertThat(time.instant()).isEqualTo(Instant.ofEpochSecond(2));
    }

    @Test
    void a_cancelled_action_is_not_done_and_takes_no_time() {
        time.cancel(time.schedule(Duration.ofDays(1), () -> done.add("never")));
        time.runUntilIdle();
        assertThat(done).isEmpty();
        assertThat(time.instant()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void time_goes_no_further_than_the_future_that_is_waited_for() {
        CompletableFuture<String> future = time.after(Duration.ofSeconds(3))
                .thenApply(_ -> "at " + time.instant().getEpochSecond());
        time.schedule(Duration.ofSeconds(4), () -> done.add("too late"));
        assertThat(time.runUntil(future)).isEqualTo("at 3");
        assertThat(done).isEmpty();
    }

    @Test
    void a_future_that_nothing_can_complete_is_an_error() {
        assertThatThrownBy(() -> time.runUntil(new CompletableFuture<>()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Nothing is left to do");
    }

    @Test
    void a_failed_future_throws_what_it_failed_with() {
        CompletableFuture<Object> future = time.after(Duration.ZERO).thenApply(_ -> {
            throw new IllegalArgumentException("so");
        });
        assertThatThrownBy(() -> time.runUntil(future))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("so");
    }

    @Test
    void time_cannot_be_run_by_what_it_runs() {
        time.schedule(Duration.ZERO, time::runUntilIdle);
        assertThatThrownBy(time::runUntilIdle).hasMessageContaining("from within an action");
    }

    @Test
    void so_much_time_passes_whether_anything_happens_or_not() {
        time.schedule(Duration.ofSeconds(1), () -> done.add("within"));
        time.schedule(Duration.ofSeconds(3), () -> done.add("after"));
        time.runFor(Duration.ofSeconds(2));
        assertThat(done).containsExactly("within");
        assertThat(time.instant()).isEqualTo(Instant.ofEpochSecond(2));
    }
}
