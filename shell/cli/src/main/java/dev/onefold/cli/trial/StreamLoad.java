package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.load.Pace;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Puts a load into a stream at a rate, on a thread of its own, and says at any moment what is right for what
/// it has put.
final class StreamLoad implements AutoCloseable {
    private static final long SHOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final TrialLoad load;
    private final long records;
    private final Pace pace;
    private final StopRequest stop;
    private final PartitionKeys keys;
    private final Producer producer;
    private final FutureTask<Moment> putting = new FutureTask<>(this::put);
    private final Thread thread;
    private volatile @Nullable CommandFailure refusal;
    private volatile Moment moment;
    private volatile boolean closing;

    /// How far it is.
    ///
    /// @param put records that were handed over
    /// @param right the totals that are right for them, by roll-up
    /// @param sent what the stream has taken
    /// @param isDone whether all of it is in the stream
    record Moment(long put, SequencedMap<String, Totals> right, Producer.Sent sent, boolean isDone) {}

    StreamLoad(TrialLoad load, TrialSettings settings, KinesisAsyncClient client, String stream, StopRequest stop) {
        this.load = load;
        records = settings.amount().records();
        this.stop = stop;
        pace = new Pace(settings.amount().rate(), System.nanoTime());
        keys = new PartitionKeys(settings.pipeline());
        producer = new Producer(client, stream, Connection.THREADS, new SecureRandom(), this::refused);
        moment = new Moment(0, load.right(), producer.sent(), false);
        thread = Thread.ofPlatform().name("trial-producer").daemon().start(putting);
    }

    private void refused(StreamRecord record, String reason) {
        refusal = new CommandFailure(
                ExitCode.DIFFERENT, "The stream does not take record " + record.number() + ": " + reason);
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
                producer.add(new StreamRecord(++put, keys.of(record), record));
            }
            if (System.nanoTime() - shown >= SHOWN_NANOS) {
                shown = System.nanoTime();
                moment = new Moment(put, load.right(), producer.sent(), false);
            }
            pace.keep(some.size());
        }
        return new Moment(put, load.right(), producer.finish(), true);
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
    }
}
