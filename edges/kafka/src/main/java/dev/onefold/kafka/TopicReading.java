package dev.onefold.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/// Reads what is committed in partitions of a topic, up to their ends. Not thread-safe.
final class TopicReading implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration SILENCE_MAX = Duration.ofSeconds(20);

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

    /// Reads on to the current ends, and returns them.
    ///
    /// @param taker of each record; false if it needs no more
    Map<Integer, Long> read(Predicate<ConsumerRecord<byte[], byte[]>> taker) {
        Map<Integer, Long> ends = new HashMap<>();
        consumer.endOffsets(partitions, SILENCE_MAX).forEach((partition, end) -> ends.put(partition.partition(), end));
        long heard = System.nanoTime();
        boolean goesOn = true;
        while (goesOn && partitions.stream().anyMatch(each -> isBefore(each, ends))) {
            look.requireGoingOn();
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                goesOn &= taker.test(record);
            }
            heard = records.nextOffsets().isEmpty() ? heard : System.nanoTime();
            if (System.nanoTime() - heard > SILENCE_MAX.toNanos()) {
                throw new TimeoutException("Nothing was read for " + SILENCE_MAX.toSeconds() + " s");
            }
        }
        return ends;
    }

    private boolean isBefore(TopicPartition partition, Map<Integer, Long> ends) {
        return consumer.position(partition, SILENCE_MAX) < TopicLook.of(partition.partition(), ends);
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
}
