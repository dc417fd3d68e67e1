package dev.onefold.cli.trial;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.load.Pace;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Puts a load into a stream or queue at a rate, on a thread of its own, and says at any moment what is right
/// for what it has put.
final class StreamLoad implements AutoCloseable {
    private static final long SHOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final TrialLoad load;
    private final long records;
    private final Pace pace;
    private final StopRequest stop;
    private final Sink sink;
    private final FutureTask<Moment> putting = new FutureTask<>(this::put);
    private final Thread thread;
    private volatile @Nullable CommandFailure refusal;
    private volatile Moment moment;
    private volatile boolean closing;

    /// How far it is.
    ///
    /// @param put records that were handed over
    /// @param right what is right for them
    /// @param sent what was taken
    /// @param isDone whether all of it was taken
    record Moment(long put, Oracle.Right right, Sink.Sent sent, boolean isDone) {}

    StreamLoad(TrialLoad load, TrialSettings.Amount amount, Sink.Opener sink, StopRequest stop) {
        this.load = load;
        records = amount.records();
        this.stop = stop;
        pace = new Pace(amount.rate(), System.nanoTime());
        this.sink = sink.open(this::refused);
        moment = new Moment(0, load.oracle().right(), this.sink.sent(), false);
        thread = Thread.ofPlatform().name("trial-producer").daemon().start(putting);
    }

    private void refused(long number, String reason) {
        refusal = new CommandFailure(ExitCode.DIFFERENT, "Record " + number + " cannot be put: " + reason);
    }

    private Moment put() throws IOException, InterruptedException {
        long put = 0;
        long shown = System.nanoTime();
        while (put < records && !stop.isMade() && !closing && refusal == null) {
            List<byte[]> some = load.next((int) Math.min(pace.batch(records), records - put));
            if (some.isEmpty()) {
                break;
            }
            for (byte[] record : some) {
                sink.add(++put, record);
            }
            if (System.nanoTime() - shown >= SHOWN_NANOS) {
                shown = System.nanoTime();
                moment = new Moment(put, load.oracle().right(), sink.sent(), false);
            }
            pace.keep(some.size());
        }
        return new Moment(put, load.oracle().right(), sink.finish(), true);
    }

    /// How far it is now.
    ///
    /// @throws RuntimeException why it cannot go on
    Moment moment() {
        CommandFailure refused = refusal;
        if (refused != null) {
            throw refused;
        }
        return switch (putting.state()) {
            case RUNNING -> moment;
            case SUCCESS -> putting.resultNow();
            case FAILED, CANCELLED -> throw failure(putting.exceptionNow());
        };
    }

    private static RuntimeException failure(Throwable why) {
        return switch (why) {
            case RuntimeException known -> known;
            case IOException unread ->
                new CommandFailure(ExitCode.DIFFERENT, "The input cannot be read: " + unread.getMessage(), unread);
            default -> new CommandFailure(ExitCode.BUG, "The producer of the trial has failed: " + why + ".", why);
        };
    }

    /// Ends it, whatever is still to be put.
    @Override
    public void close() {
        closing = true;
        try {
            thread.join(Duration.ofSeconds(30));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sink.close();
    }
}
