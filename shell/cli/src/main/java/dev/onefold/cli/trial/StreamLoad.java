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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Puts a load into a stream at a rate, on a thread of its own, and says at any moment what is right for what
/// it has put.
final class StreamLoad implements AutoCloseable {
    private static final long SHOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Load load;
    private final long records;
    private final Pace pace;
    private final StopRequest stop;
    private final PartitionKeys keys;
    private final Producer producer;
    private final Thread thread;
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    private volatile Moment moment;
    private volatile boolean closing;

    /// How far it is.
    ///
    /// @param put records that were handed over
    /// @param right the totals that are right for them, by roll-up
    /// @param sent what the stream has taken
    /// @param isDone whether all of it is in the stream
    record Moment(long put, SequencedMap<String, Totals> right, Producer.Sent sent, boolean isDone) {}

    StreamLoad(Load load, Asked asked, KinesisAsyncClient client, String stream, StopRequest stop) {
        this.load = load;
        records = asked.load().records();
        this.stop = stop;
        pace = new Pace(asked.load().rate(), System.nanoTime());
        keys = new PartitionKeys(asked.pipeline());
        producer = new Producer(client, stream, Connection.THREADS, new SecureRandom(), this::refused);
        moment = new Moment(0, load.right(), producer.sent(), false);
        thread = Thread.ofPlatform().name("trial-producer").daemon().start(this::run);
    }

    private void refused(StreamRecord record, String reason) {
        failure.compareAndSet(
                null,
                new CommandFailure(
                        ExitCode.DIFFERENT, "The stream does not take record " + record.number() + ": " + reason));
    }

    private void run() {
        try {
            long put = 0;
            long shown = System.nanoTime();
            while (put < records && !stop.isMade() && !closing && failure.get() == null) {
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
            moment = new Moment(put, load.right(), producer.finish(), true);
        } catch (IOException e) {
            failure.compareAndSet(
                    null, new CommandFailure(ExitCode.DIFFERENT, "The input cannot be read: " + e.getMessage(), e));
        } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
        } catch (InterruptedException e) {
            failure.compareAndSet(
                    null, new CommandFailure(ExitCode.DIFFERENT, "The producer of the trial was interrupted.", e));
            Thread.currentThread().interrupt();
        } catch (Error e) { // Nobody would ever hear that it has ended.
            failure.compareAndSet(
                    null, new CommandFailure(ExitCode.BUG, "The producer of the trial has failed: " + e + ".", e));
        }
    }

    /// How far it is now.
    ///
    /// @throws RuntimeException why it cannot go on
    Moment moment() {
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        return moment;
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
