package dev.onefold.api;

import dev.onefold.core.Engine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/// The part of the input that an answer must cover: a number of lines of a source.
///
/// @param source name of the source
/// @param records number of its lines
record AtLeast(String source, long records) {
    private static final Duration WAIT_MAX = Duration.ofSeconds(10);
    private static final long POLL_MS = 20;

    /// Each waits by asking the engine again and again.
    private static final Semaphore WAITING = new Semaphore(200);

    /// The parameter `at-least`, in the form `SOURCE:RECORDS`.
    static Optional<AtLeast> of(Request request) {
        String text = request.parameter("at-least");
        if (text == null) {
            return Optional.empty();
        }
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("The parameter 'at-least' is SOURCE:RECORDS, such as desk-1:5000");
        }
        long records = Request.number("number in 'at-least'", text.substring(colon + 1));
        if (records < 0) {
            throw new IllegalArgumentException("The number in 'at-least' is " + records + ", and lines are 0 or more");
        }
        return Optional.of(new AtLeast(text.substring(0, colon), records));
    }

    /// Waits until the lines are in the totals.
    void await(Engine engine) {
        if (engine.acknowledged(source) >= records) {
            return;
        }
        if (!WAITING.tryAcquire()) {
            throw new Request.Refused(
                    new Failure(429, Failure.BUSY, "Too many requests wait for lines to come. Ask again in a moment."));
        }
        try {
            awaitLines(engine);
        } finally {
            WAITING.release();
        }
    }

    private void awaitLines(Engine engine) {
        long deadline = System.nanoTime() + WAIT_MAX.toNanos();
        while (engine.acknowledged(source) < records) {
            if (System.nanoTime() > deadline) {
                throw new Request.Refused(new Failure(
                        503,
                        Failure.NOT_YET,
                        "The totals have " + engine.acknowledged(source) + " of " + records
                                + " lines of the source after " + WAIT_MAX.toSeconds() + " s. Ask again later."));
            }
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Request.Refused(new Failure(503, Failure.NOT_YET, "Interrupted while waiting for lines."));
            }
        }
    }
}
