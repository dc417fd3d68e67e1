package dev.onefold.kafka;

import dev.onefold.embedded.source.LogBatch;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/// Reads the records again that were folded last, and compares them with what is known of them. A record that is
/// gone by compaction or retention is no difference: the reading at the position itself says what is gone. A log
/// that ends before the record was cut. That is a difference, because the log may have grown beyond the position
/// before the next record is read. A leader of a lower epoch than that of the position says nothing about the end: the
/// client itself reads nothing of it.
record LastRecords(String topic, Consumer<byte[], byte[]> consumer, TopicLook look) {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration WAIT_MAX = Duration.ofSeconds(10);

    /// @param differing the places of records that are others now, by partition
    /// @param silent partitions without an answer: one that has no leader holds up no other
    record Compared(SortedMap<Integer, String> differing, Set<Integer> silent) {}

    /// Compares what is known, by partition. What the consumer is assigned is another then.
    Compared with(Map<Integer, TopicMark> known) {
        SortedMap<Integer, String> differing = new TreeMap<>();
        Map<Integer, TopicLook.Span> spans = look.spans(known.keySet());
        Set<Integer> silent = new TreeSet<>(known.keySet());
        silent.removeAll(spans.keySet());
        Map<Integer, TopicMark.Last> open = new HashMap<>();
        spans.forEach((partition, span) -> {
            TopicMark mark = Objects.requireNonNull(known.get(partition));
            TopicMark.Last last = mark.last().orElseThrow();
            int epoch = mark.place().map(TopicMark.Place::epoch).orElse(-1);
            if (last.offset() >= span.end() && span.epoch() >= epoch) {
                differing.put(partition, place(partition, last));
            } else if (last.offset() >= span.begin() && last.offset() < span.end()) {
                open.put(partition, last);
            }
        });
        consumer.assign(open.keySet().stream().map(this::of).toList());
        consumer.resume(consumer.paused()); // One that waits for its schema has a last record, too.
        open.forEach((partition, last) -> consumer.seek(of(partition), last.offset()));
        long until = System.nanoTime() + WAIT_MAX.toNanos();
        while (!open.isEmpty() && System.nanoTime() < until) {
            look.requireGoingOn();
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
                    consumer.pause(List.of(partition)); // The others have the fetches that follow.
                }
            });
            until = records.nextOffsets().isEmpty() ? until : System.nanoTime() + WAIT_MAX.toNanos();
        }
        consumer.resume(consumer.paused());
        silent.addAll(open.keySet());
        return new Compared(differing, silent);
    }

    private String place(int partition, TopicMark.Last last) {
        return "offset " + last.offset() + " of " + LogBatch.source(topic, partition);
    }

    private TopicPartition of(int partition) {
        return new TopicPartition(topic, partition);
    }
}
