package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.sqs.Queue;
import dev.onefold.sqs.QueueSender;
import java.security.SecureRandom;
import java.util.function.BiConsumer;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// Where a trial puts its records. Is not thread-safe.
interface Sink extends AutoCloseable {
    /// Puts a record, perhaps later with others.
    void add(long number, byte[] record);

    /// What was taken so far.
    Sent sent();

    /// Puts the rest, and waits until all is taken.
    Sent finish();

    @Override
    void close();

    /// Records that were taken.
    record Sent(long records, long bytes) {}

    /// Opens a sink.
    interface Opener {
        /// @param refused takes the number of a record that cannot be put, and the reason; any thread
        Sink open(BiConsumer<Long, String> refused);
    }

    /// A Kinesis stream.
    static Opener stream(KinesisAsyncClient client, String stream, Pipeline pipeline) {
        PartitionKeys keys = new PartitionKeys(pipeline);
        return refused -> {
            Producer producer = new Producer(
                    client,
                    stream,
                    Connection.THREADS,
                    new SecureRandom(),
                    (record, reason) -> refused.accept(record.number(), reason));
            return new Sink() {
                @Override
                public void add(long number, byte[] record) {
                    producer.add(new StreamRecord(number, keys.of(record), record));
                }

                @Override
                public Sent sent() {
                    return new Sent(producer.sent().records(), producer.sent().bytes());
                }

                @Override
                public Sent finish() {
                    producer.finish();
                    return sent();
                }

                @Override
                public void close() {}
            };
        };
    }

    /// An SQS queue.
    static Opener queue(SqsAsyncClient client, String url) {
        return refused -> {
            QueueSender sender = new QueueSender(client, Queue.of(url), -1, refused);
            return new Sink() {
                @Override
                public void add(long number, byte[] record) {
                    sender.add(number, record);
                }

                @Override
                public Sent sent() {
                    return new Sent(sender.sent(), 0);
                }

                @Override
                public Sent finish() {
                    sender.finish();
                    return sent();
                }

                @Override
                public void close() {
                    sender.close();
                }
            };
        };
    }
}
