package dev.onefold.embedded.guard;

import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.totals.Leaves;
import dev.onefold.core.totals.Lines;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Answers under way. Each is copied off the heap under the engine's lock, which takes a fraction of a second
/// for a million groups, and read without the lock, so a slow reader delays no intake. The memory of all
/// copies together is bounded: an answer waits until others have been read, and is refused after a while. Any
/// thread.
public final class Answers {
    /// Bytes of all answers under way, at least.
    private static final long BYTES_MIN = 128L << 20;

    /// Share of the state's memory that they may take beside it.
    private static final int STATE_SHARE = 8;

    private static final int NUMBER_MAX = 16;
    private static final int UNIT_BYTES = 1 << 10;
    private static final long BLOCK_SLACK_BYTES = 1 << 20;
    public static final Duration WAIT_MAX = Duration.ofSeconds(10);

    private final long bytesMax;
    private final Duration waitMax;
    private final Semaphore units;
    private final Locked locked;

    /// Does something while nobody changes the state.
    public interface Locked {
        <T> T run(Supplier<T> action);
    }

    public Answers(long bytesMax, Duration waitMax, Locked locked) {
        this.bytesMax = bytesMax;
        this.waitMax = waitMax;
        units = new Semaphore((int) Math.min(Integer.MAX_VALUE, bytesMax / UNIT_BYTES), true);
        this.locked = locked;
    }

    /// Bytes that all answers under way may take beside this many for the state.
    public static long bytesMax(long stateBytesMax) {
        return Math.max(BYTES_MIN, stateBytesMax / STATE_SHARE);
    }

    /// Leaves to ask, and the cut that they are of.
    public record Cut(Leaves leaves, Answer.Cut covered) {}

    /// Answers a query; the answer can be read until the reader returns.
    public <T> T answer(Query query, Supplier<Cut> cut, Function<Answer, T> reader) {
        long bytes = 0;
        while (true) {
            Leaves before = locked.run(cut).leaves();
            bytes = Math.max(
                    2 * bytes, before.bytesOf(query) / 8 * 9 + BLOCK_SLACK_BYTES); // Groups may come meanwhile.
            int taken = take(bytes);
            try (Copy copy = copy(query, cut, bytes)) {
                if (copy != null) {
                    refusingLarge(copy.lines::size); // A top list is ranked here, without the lock.
                    return reader.apply(copy.answer());
                }
            } finally {
                units.release(taken);
            }
        }
    }

    /// Whether an answer waits for memory that others hold.
    public boolean isAwaited() {
        return units.hasQueuedThreads();
    }

    private int take(long bytes) {
        long unitsMin = bytesMax / UNIT_BYTES / NUMBER_MAX;
        long wanted = Math.max(unitsMin, bytes / UNIT_BYTES + 1);
        if (bytes > bytesMax) {
            throw new EngineException(
                    EngineException.Kind.ANSWER_REFUSED,
                    "The answer would take " + bytes + " bytes of memory; " + bytesMax + " are allowed for all answers."
                            + " Ask for less (a group, a smaller depth, a top list), or allow more: it is an eighth of"
                            + " --state-memory.");
        }
        boolean interrupted = false;
        long waitNanos = waitMax.toNanos();
        try {
            while (true) {
                long started = System.nanoTime();
                try {
                    if (units.tryAcquire((int) wanted, waitNanos, TimeUnit.NANOSECONDS)) {
                        return (int) wanted;
                    }
                    throw new EngineException(
                            EngineException.Kind.ANSWER_REFUSED,
                            "Other answers are being read and take the memory that answers may have: " + bytesMax
                                    + " bytes, at most " + NUMBER_MAX + " answers. This one waited "
                                    + waitMax.toSeconds()
                                    + " s for " + bytes + " bytes. Ask again when they have been read.");
                } catch (InterruptedException e) {
                    interrupted = true;
                    waitNanos -= System.nanoTime() - started;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// An answer and its memory.
    private record Copy(Answer answer, Lines lines) implements AutoCloseable {
        @Override
        public void close() {
            lines.close();
        }
    }

    /// The limit of bytes was too low: more groups came than were expected.
    private static final class Exceeded extends RuntimeException {
        private static final long serialVersionUID = 1;

        Exceeded() {
            super("An answer is larger than expected", null, false, false);
        }
    }

    private @Nullable Copy copy(Query query, Supplier<Cut> cut, long bytes) {
        return locked.run(() -> refusingLarge(() -> {
            Cut now = cut.get();
            long[] left = {bytes};
            try {
                Lines lines = now.leaves().lines(query, more -> {
                    left[0] -= more;
                    if (left[0] < 0) {
                        throw new Exceeded();
                    }
                });
                return new Copy(answer(now, lines), lines);
            } catch (Exceeded e) {
                return null;
            }
        }));
    }

    private static <T extends @Nullable Object> T refusingLarge(Supplier<T> work) {
        try {
            return work.get();
        } catch (OutOfMemoryError e) {
            throw new EngineException(
                    EngineException.Kind.ANSWER_REFUSED,
                    "There is no memory for the answer: " + e.getMessage()
                            + ". Ask for less (a group, a smaller depth), or allow a larger heap (-Xmx).",
                    e);
        }
    }

    private static Answer answer(Cut cut, Lines lines) {
        return new Answer(
                cut.leaves.rollup().name(),
                cut.leaves.rollup().levels().stream().map(Level::name).toList(),
                cut.leaves.rollup().figureNames(),
                lines,
                cut.covered);
    }

    /// The answer as a value of its own.
    ///
    /// @throws EngineException if it would take more than half of the heap
    public static Answer onHeap(Answer answer) {
        long lineBytes = 150 + 70L * (answer.levels().size() + answer.measures().size());
        long heapBytesMax = Runtime.getRuntime().maxMemory() / 2;
        if (answer.lines().size() * lineBytes > heapBytesMax) {
            throw new EngineException(
                    EngineException.Kind.ANSWER_REFUSED,
                    "The answer has " + answer.lines().size() + " groups, which need about "
                            + answer.lines().size() * lineBytes + " bytes of heap; " + heapBytesMax
                            + " are allowed. Ask for less (a group, a smaller depth, a top list), read it line by line"
                            + " (query with a reader), or allow a larger heap (-Xmx).");
        }
        return new Answer(
                answer.rollup(),
                answer.levels(),
                answer.measures(),
                new java.util.ArrayList<>(answer.lines()),
                answer.cut());
    }
}
