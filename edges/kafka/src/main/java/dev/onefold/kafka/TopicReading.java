package dev.onefold.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/// Reads the committed records of some partitions of a topic. Not thread-safe.
final class TopicReading implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    private final TopicLook look;
    private final Consumer<byte[], byte[]> consumer;
    private final List<TopicPartition> partitions;

    /// @param from first offset of each partition
    /// @param consumer is closed with this
    TopicReading(TopicLook look, Map<Integer, Long> from, Consumer<byte[], byte[]> consumer) {
        this.look = look;
        this.consumer = consumer;
        partitions = from.keySet().stream()
                .map(number -> new TopicPartition(look.topic(), number))
                .toList();
        consumer.assign(partitions);
        from.forEach((number, offset) -> consumer.seek(new TopicPartition(look.topic(), number), offset));
    }

    /// Reads on to these ends. No record behind an open transaction can be read, so an end behind one is not reached.
    ///
    /// @param taker of each record; false if it needs no more
    /// @throws TimeoutException if nothing more comes before the ends
    void read(Map<Integer, Long> ends, Predicate<ConsumerRecord<byte[], byte[]>> taker) {
        long heard = System.nanoTime();
        boolean goesOn = true;
        while (goesOn) {
            look.requireGoingOn();
            Optional<TopicPartition> open =
                    partitions.stream().filter(each -> isBefore(each, ends)).findFirst();
            if (open.isEmpty()) {
                return;
            }
            if (System.nanoTime() - heard > look.answerMax().toNanos()) {
                throw new TimeoutException("Nothing was read for "
                        + look.answerMax().toSeconds() + " s: partition "
                        + open.get().partition() + " has an open transaction from offset "
                        + position(open.get()) + ", or does not answer");
            }
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                goesOn &= taker.test(record);
            }
            heard = records.nextOffsets().isEmpty() ? heard : System.nanoTime();
        }
    }

    private boolean isBefore(TopicPartition partition, Map<Integer, Long> ends) {
        return position(partition) < TopicLook.of(partition.partition(), ends);
    }

    private long position(TopicPartition partition) {
        return consumer.position(partition, look.answerMax());
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
}
