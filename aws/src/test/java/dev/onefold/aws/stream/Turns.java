package dev.onefold.aws.stream;

import dev.onefold.aws.store.Threads;
import dev.onefold.fakes.aws.SteppedThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/// What is to happen, in an order that chance says: answers overtake each other, pauses end before or after them.
/// Before each turn, every thread goes on that can.
final class Turns implements Threads {
    private static final int TURNS_MAX = 1_000_000;

    private final RandomGenerator random;
    private final List<Runnable> waiting = new ArrayList<>();
    private final SteppedThreads threads = new SteppedThreads();

    Turns(RandomGenerator random) {
        this.random = random;
    }

    void later(Runnable turn) {
        waiting.add(turn);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    @Override
    public void pause(Duration pause) {
        if (pause.isNegative() || pause.compareTo(Duration.ofSeconds(2)) > 0) {
            throw new AssertionError("Nobody is to wait for " + pause);
        }
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        later(() -> over.complete(true));
        await(over);
    }

    /// On the test's own thread, takes turns until the answer is there.
    @Override
    public <T> T await(CompletableFuture<T> answer) {
        if (!Thread.currentThread().isVirtual()) {
            for (int turn = 0; !answer.isDone(); turn++) {
                goOn();
                if (!answer.isDone()) {
                    take(turn);
                }
            }
        }
        return Threads.super.await(answer);
    }

    private void take(int turn) {
        if (waiting.isEmpty() || turn > TURNS_MAX) {
            throw new AssertionError("It is stuck: " + waiting.size() + " turns are waiting");
        }
        waiting.remove(random.nextInt(waiting.size())).run();
    }

    /// Lets every thread go on that can, and takes no turn.
    void goOn() {
        threads.goOn();
    }
}
