package dev.onefold.fakes.aws;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SteppedThreadsTest {
    private final SteppedThreads threads = new SteppedThreads();
    private final List<String> done = new ArrayList<>();

    private void begin(String name, CompletableFuture<String> answer) {
        threads.execute(() -> {
            done.add(name + " waits");
            done.add(name + " has " + answer.join());
        });
    }

    @Test
    void a_thread_goes_on_only_when_it_is_told_to() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        begin("a", answer);
        assertThat(done).isEmpty();
        threads.goOn();
        assertThat(done).containsExactly("a waits");
        answer.complete("1");
        assertThat(done).containsExactly("a waits");
        threads.goOn();
        assertThat(done).containsExactly("a waits", "a has 1");
    }

    @Test
    void threads_go_on_in_the_order_in_which_they_became_ready() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();
        begin("a", first);
        begin("b", second);
        threads.goOn();
        second.complete("2");
        first.complete("1");
        threads.goOn();
        assertThat(done).containsExactly("a waits", "b waits", "b has 2", "a has 1");
    }
}
