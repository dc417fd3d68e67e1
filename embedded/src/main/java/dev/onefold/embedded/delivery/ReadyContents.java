package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Members;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The contents that are ready to be delivered. Contents of the next batches are made ahead, one on each processor,
/// because compression takes most of the time. Any thread may call.
final class ReadyContents {
    /// Bytes of contents in files of their own, about at most.
    private static final long BYTES_MAX = 4L << 30;

    private final Contents contents;
    private final Map<BatchNumber, Contents.Prepared> ready = new HashMap<>();
    private final Map<Long, String> hashes = new HashMap<>(); // Of whole batches from the one before the next.
    private final Set<Long> making = new HashSet<>();
    private final @Nullable ExecutorService makers; // Not virtual: a thread that compresses would keep its carrier.
    private long bytes;
    private boolean closed;

    /// @param isThreaded false: nothing is made ahead
    ReadyContents(Contents contents, boolean isThreaded) {
        this.contents = contents;
        makers = isThreaded
                ? Executors.newFixedThreadPool(
                        Runtime.getRuntime().availableProcessors(),
                        Thread.ofPlatform()
                                .daemon()
                                .name("onefold-contents-", 0)
                                .factory())
                : null;
    }

    /// Makes the contents of whole batches.
    ///
    /// @param guarded runs the work of a thread
    /// @param whenMade is called after each
    synchronized void makeAhead(long from, long to, Consumer<Runnable> guarded, Runnable whenMade) {
        ExecutorService own = makers;
        for (long number = from; own != null && !closed && number <= to && bytes < BYTES_MAX; number++) {
            BatchNumber each = BatchNumber.of(number);
            if (!ready.containsKey(each) && making.add(number)) {
                own.execute(() -> guarded.accept(() -> {
                    make(each);
                    whenMade.run();
                }));
            }
        }
    }

    private void make(BatchNumber number) {
        if (isClosed()) {
            return; // Many may wait for their turn.
        }
        try {
            keep(number, contents.prepare(number, null));
        } finally {
            synchronized (this) {
                making.remove(number.number());
            }
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
        synchronized (this) {
            Contents.Prepared known = ready.get(number);
            if (known != null) {
                return known;
            }
        }
        Contents.Prepared made = contents.prepare(number, members);
        keep(number, made);
        return made;
    }

    /// The hash of a whole batch.
    String hash(long number) {
        String known;
        synchronized (this) {
            known = hashes.get(number);
        }
        return known == null ? contents.prepare(BatchNumber.of(number), null).sha256() : known;
    }

    /// Hashes of batches below a number are not asked for any more.
    synchronized void forgetHashes(long below) {
        hashes.keySet().removeIf(number -> number < below);
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
