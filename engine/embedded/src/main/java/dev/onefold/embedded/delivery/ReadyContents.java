package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Members;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// The contents that are ready to be delivered. Contents of the next batches are made ahead, one on each processor,
/// because compression takes most of the time. Any thread may call.
///
/// Each content has one maker at a time, because two of them would write one file. The maker is the first thread that
/// needs the content; the others wait for its result. A maker needs no other content, so no two threads wait for each
/// other. A content that could not be made is made again for the next caller.
final class ReadyContents {
    /// Bytes of contents in files of their own, about at most.
    private static final long BYTES_MAX = 4L << 30;

    private final BiFunction<BatchNumber, @Nullable Members, Contents.Prepared> maker;
    private final Map<BatchNumber, Contents.Prepared> ready = new HashMap<>();
    private final Map<Long, String> hashes = new HashMap<>(); // Of whole batches from the one before the next.
    private final Map<BatchNumber, FutureTask<Contents.Prepared>> making = new HashMap<>();
    private final @Nullable ExecutorService makers; // Not virtual: a thread that compresses would keep its carrier.
    private long bytes;
    private boolean closed;

    /// @param maker makes a content, unless its file was made before
    /// @param isThreaded false: nothing is made ahead
    ReadyContents(BiFunction<BatchNumber, @Nullable Members, Contents.Prepared> maker, boolean isThreaded) {
        this(
                maker,
                isThreaded
                        ? Executors.newFixedThreadPool(
                                Runtime.getRuntime().availableProcessors(),
                                Thread.ofPlatform()
                                        .daemon()
                                        .name("onefold-contents-", 0)
                                        .factory())
                        : null);
    }

    /// @param makers its threads; `null`: nothing is made ahead
    ReadyContents(
            BiFunction<BatchNumber, @Nullable Members, Contents.Prepared> maker, @Nullable ExecutorService makers) {
        this.maker = maker;
        this.makers = makers;
    }

    /// Makes the contents of whole batches.
    ///
    /// @param guarded runs the work of a thread
    /// @param whenMade is called after each
    synchronized void makeAhead(long from, long to, Consumer<Runnable> guarded, Runnable whenMade) {
        ExecutorService own = makers;
        for (long number = from; own != null && !closed && number <= to && bytes < BYTES_MAX; number++) {
            BatchNumber each = BatchNumber.of(number);
            if (!ready.containsKey(each) && !making.containsKey(each)) {
                FutureTask<Contents.Prepared> task = task(each, null);
                try {
                    own.execute(() -> guarded.accept(() -> {
                        if (!isClosed()) { // Many may wait for their turn.
                            result(each, task);
                            whenMade.run();
                        }
                    }));
                } catch (Throwable noThread) { // There is none left, or no memory for one; the next turn tries again.
                    making.remove(each, task);
                    throw noThread;
                }
            }
        }
    }

    private synchronized FutureTask<Contents.Prepared> task(BatchNumber number, @Nullable Members members) {
        return making.computeIfAbsent(number, _ -> new FutureTask<>(() -> make(number, members)));
    }

    private Contents.Prepared make(BatchNumber number, @Nullable Members members) {
        try {
            Contents.Prepared made = maker.apply(number, members);
            keep(number, made);
            return made;
        } finally {
            synchronized (this) {
                making.remove(number);
            }
        }
    }

    /// The result of a task. If no thread has begun the task, this one runs it.
    private static Contents.Prepared result(BatchNumber number, FutureTask<Contents.Prepared> task) {
        task.run();
        try {
            return task.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw new IllegalStateException("Making a content throws no such exception", e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EngineException(
                    EngineException.Kind.STOPPED,
                    "The engine was closed before the content of batch " + number + " was made",
                    e);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void keep(BatchNumber number, Contents.Prepared made) {
        if (ready.put(number, made) == null) {
            bytes += made.fileBytes();
        }
        if (number.isWhole()) {
            hashes.put(number.number(), made.sha256());
        }
    }

    /// Whether the content of a whole batch is ready, or is made only when it is asked for.
    synchronized boolean has(long number) {
        return makers == null || ready.containsKey(BatchNumber.of(number));
    }

    /// The content, made now if it is not ready.
    Contents.Prepared get(BatchNumber number, @Nullable Members members) {
        FutureTask<Contents.Prepared> task;
        synchronized (this) {
            Contents.Prepared known = ready.get(number);
            if (known != null) {
                return known;
            }
            task = task(number, members);
        }
        return result(number, task);
    }

    /// The hash of a whole batch. Its content is made for it if need be, so the caller holds no lock.
    String hash(long number) {
        BatchNumber whole = BatchNumber.of(number);
        FutureTask<Contents.Prepared> task;
        synchronized (this) {
            String known = hashes.get(number);
            if (known != null) {
                return known;
            }
            task = task(whole, null);
        }
        return result(whole, task).sha256();
    }

    /// Forgets hashes that are no longer needed.
    ///
    /// @param isNeeded whether the hash of a batch may still be needed
    synchronized void forgetHashes(LongPredicate isNeeded) {
        hashes.keySet().removeIf(number -> !isNeeded.test(number));
    }

    /// The content is not needed now. Its file stays.
    synchronized void letGo(BatchNumber number) {
        Contents.Prepared gone = ready.remove(number);
        bytes -= gone == null ? 0 : gone.fileBytes();
    }

    /// Begins no further content, and waits for those that are being made.
    void close(long secondsMax) {
        synchronized (this) {
            closed = true;
        }
        if (makers != null) {
            end(makers, secondsMax);
        }
    }

    /// Ends threads, which are interrupted if they have not ended by then.
    static void end(ExecutorService threads, long secondsMax) {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(secondsMax, TimeUnit.SECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
        threads.close();
    }
}
