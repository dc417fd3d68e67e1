package dev.onefold.aws.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/// What is to happen, in an order that chance says: answers overtake each other, pauses end before or after them.
final class Turns {
    private static final int TURNS_MAX = 1_000_000;

    private final RandomGenerator random;
    private final List<Runnable> waiting = new ArrayList<>();

    Turns(RandomGenerator random) {
        this.random = random;
    }

    void later(Runnable turn) {
        waiting.add(turn);
    }

    CompletableFuture<Void> pause(Duration pause) {
        if (pause.isNegative() || pause.compareTo(Duration.ofSeconds(2)) > 0) {
            throw new AssertionError("Nobody is to wait for " + pause);
        }
        CompletableFuture<Void> over = new CompletableFuture<>();
        later(() -> over.complete(null));
        return over;
    }

    /// Takes turns until the future is done.
    void until(CompletableFuture<?> future) {
        for (int turn = 0; !future.isDone(); turn++) {
            if (waiting.isEmpty() || turn > TURNS_MAX) {
                throw new AssertionError("It is stuck: " + waiting.size() + " turns are waiting");
            }
            waiting.remove(random.nextInt(waiting.size())).run();
        }
    }
}
