package dev.onefold.kafka;

import dev.onefold.embedded.source.LogBatch;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/// Reads the records again that were folded last, and compares them with what is known of them. A record that is
/// gone by compaction or retention is no difference: the reading at the position itself says what is gone. A log
/// that ends before the record was cut. That is a difference, because the log may have grown beyond the position
/// before the next record is read.
record LastRecords(String topic, Consumer<byte[], byte[]> consumer, TopicLook look) {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration WAIT_MAX = Duration.ofSeconds(20);

    /// The places of records that are others now, by partition. What the consumer is assigned is another then.
    ///
    /// @throws TimeoutException if a record cannot be read now
    SortedMap<Integer, String> differing(Map<Integer, TopicMark.Last> known) {
        SortedMap<Integer, String> differing = new TreeMap<>();
        Map<Integer, TopicMark.Last> open = new HashMap<>(known);
        Map<Integer, Long> begins = look.begins(open.keySet());
        Map<Integer, Long> ends = look.ends(open.keySet());
        known.forEach((partition, last) -> {
            if (last.offset() >= TopicLook.of(partition, ends)) {
                differing.put(partition, place(partition, last));
            }
        });
        open.entrySet()
                .removeIf(last -> last.getValue().offset() < TopicLook.of(last.getKey(), begins)
                        || differing.containsKey(last.getKey()));
        consumer.assign(open.keySet().stream().map(this::of).toList());
        consumer.resume(consumer.paused()); // One that waits for its schema has a last record, too.
        open.forEach((partition, last) -> consumer.seek(of(partition), last.offset()));
        long until = System.nanoTime() + WAIT_MAX.toNanos();
        while (!open.isEmpty()) {
            look.requireGoingOn();
            if (System.nanoTime() > until) {
                throw new TimeoutException(
                        "The records that were folded last did not come within " + WAIT_MAX.toSeconds() + " s");
            }
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                TopicMark.Last last = open.get(record.partition());
                if (last != null
                        && record.offset() == last.offset()
                        && !TopicMark.hash(record).equals(last.hash())) {
                    differing.put(record.partition(), place(record.partition(), last));
                }
            }
            records.nextOffsets().forEach((partition, next) -> {
                TopicMark.Last last = open.get(partition.partition());
                if (last != null && next.offset() > last.offset()) {
                    open.remove(partition.partition());
                }
            });
        }
        return differing;
    }

    private String place(int partition, TopicMark.Last last) {
        return "offset " + last.offset() + " of " + LogBatch.source(topic, partition);
    }

    private TopicPartition of(int partition) {
        return new TopicPartition(topic, partition);
    }
}
