package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RisesTest {
    private final Rises rises = new Rises();

    private long seen(String name, long figure) {
        return rises.see(() -> figure, now -> Map.of(name, now)).counters().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    @Test
    void a_counter_of_a_figure_that_falls_goes_on_from_where_it_was() {
        assertThat(seen("rejected", 5)).isEqualTo(5);
        assertThat(seen("rejected", 2)).isEqualTo(5);
        assertThat(seen("rejected", 3)).isEqualTo(6);
        assertThat(seen("accepted", 1)).isEqualTo(1);
    }

    @Test
    void a_figure_that_is_read_beside_a_later_one_counts_no_rise_twice() throws Exception {
        FutureTask<Long> later = new FutureTask<>(() -> seen("accepted", 110));
        Thread thread = Thread.ofPlatform().unstarted(later);
        rises.see(
                () -> {
                    thread.start();
                    while (thread.getState() != Thread.State.BLOCKED && thread.isAlive()) {
                        Thread.onSpinWait();
                    }
                    return 100L;
                },
                now -> Map.of("accepted", now));
        assertThat(later.get()).isEqualTo(110);
        assertThat(seen("accepted", 110)).isEqualTo(110);
    }
}
