package dev.onefold.aws.resync;

import java.time.Duration;
import software.amazon.awssdk.core.exception.SdkException;

/// Renews something in the tables of a deployment while somebody works with it, on a thread of its own.
public final class Renewal implements AutoCloseable {
    private static final Duration EVERY = Duration.ofSeconds(20);

    private final Thread thread;

    private Renewal(Runnable renew) {
        thread = Thread.ofVirtual().name("onefold-renewal").unstarted(() -> run(renew));
    }

    /// Renews from now on.
    public static Renewal of(Runnable renew) {
        Renewal renewal = new Renewal(renew);
        renewal.thread.start();
        return renewal;
    }

    private static void run(Runnable renew) {
        boolean goesOn = true;
        while (goesOn) {
            goesOn = isToGoOn(renew);
        }
    }

    private static boolean isToGoOn(Runnable renew) {
        try {
            Thread.sleep(EVERY);
            renew.run();
            return true;
        } catch (SdkException e) {
            return true; // The next renewal comes long before it is too late.
        } catch (InterruptedException e) {
            return false;
        } catch (IllegalStateException e) {
            return false; // Somebody else has it. Whatever its holder writes finds that out.
        }
    }

    /// Ends when the renewal that is under way has ended.
    @Override
    public void close() {
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
