package dev.onefold.aws.resync;

import dev.onefold.aws.store.Threads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.exception.SdkException;

/// Renews something in the tables of a deployment while somebody works with it, on a thread of its own. Closed by the
/// thread that opened it.
public final class Renewal implements AutoCloseable {
    private static final Duration EVERY = Duration.ofSeconds(20);

    private final Threads threads;
    private final Runnable renew;
    private CompletableFuture<Boolean> latest = CompletableFuture.completedFuture(true);
    private boolean isClosed;

    private Renewal(Threads threads, Runnable renew) {
        this.threads = threads;
        this.renew = renew;
    }

    /// Renews from now on.
    public static Renewal of(Threads threads, Runnable renew) {
        Renewal renewal = new Renewal(threads, renew);
        threads.execute(renewal::run);
        return renewal;
    }

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            threads.pause(EVERY);
            goesOn = isToGoOn();
        }
    }

    private boolean isToGoOn() {
        CompletableFuture<Boolean> mine = new CompletableFuture<>();
        synchronized (this) {
            if (isClosed) {
                return false;
            }
            latest = mine;
        }
        try {
            renew.run();
            return true;
        } catch (SdkException e) {
            return true; // The next renewal comes long before it is too late.
        } catch (IllegalStateException e) {
            return false; // Somebody else has it. Whatever its holder writes finds that out.
        } finally {
            mine.complete(true);
        }
    }

    /// Returns when the renewal that is under way has ended. Its thread ends when its pause is over.
    @Override
    public void close() {
        CompletableFuture<Boolean> underWay;
        synchronized (this) {
            isClosed = true;
            underWay = latest;
        }
        threads.await(underWay);
    }
}
