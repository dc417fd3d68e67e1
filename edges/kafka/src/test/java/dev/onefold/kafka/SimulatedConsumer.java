package dev.onefold.kafka;

import dev.onefold.kafka.SimulatedPartition.Fetched;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/// A consumer of a [SimulatedTopic], which does what Kafka's does: it reads committed records alone, fetches ahead,
/// asks the leader about its position when the position or the leader is new to it, and knows no topic but by name.
final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private static final int ENTRIES_MAX = 10; // Of a partition, in a poll.
    private static final MetricName CONNECTIONS =
            new MetricName("connection-creation-total", "consumer-metrics", "", Map.of());

    private final SimulatedTopic topic;
    private final KafkaLife life;
    private final RandomGenerator random;
    private final Map<TopicPartition, OffsetAndMetadata> positions = new LinkedHashMap<>();
    private final Set<TopicPartition> paused = new HashSet<>();
    private final Map<TopicPartition, Fetched> ahead = new HashMap<>();
    private final Map<TopicPartition, Integer> leaders = new HashMap<>(); // Epochs that the positions are good for.
    private final Map<Integer, Long> handedOn = new HashMap<>(); // What the reader folds, if it does not seek.

    SimulatedConsumer(SimulatedTopic topic, KafkaLife life, RandomGenerator random) {
        super("none");
        this.topic = topic;
        this.life = life;
        this.random = random;
    }

    @Override
    public synchronized void assign(Collection<TopicPartition> partitions) {
        positions.keySet().retainAll(partitions);
        paused.retainAll(partitions);
        handedOn.clear();
        partitions.forEach(each -> positions.putIfAbsent(each, new OffsetAndMetadata(0)));
    }

    @Override
    public synchronized Set<TopicPartition> assignment() {
        return Set.copyOf(positions.keySet());
    }

    @Override
    public synchronized void seek(TopicPartition partition, long offset) {
        move(partition, new OffsetAndMetadata(offset));
    }

    @Override
    public void seek(TopicPartition partition, OffsetAndMetadata to) {
        move(partition, to);
        handedOn.put(partition.partition(), to.offset());
    }

    private void move(TopicPartition partition, OffsetAndMetadata to) {
        requireAssigned(partition);
        positions.put(partition, to);
        ahead.remove(partition);
        leaders.remove(partition);
    }

    private void requireAssigned(TopicPartition partition) {
        if (!positions.containsKey(partition)) {
            throw new IllegalStateException("No current assignment for partition " + partition);
        }
    }

    @Override
    public synchronized void pause(Collection<TopicPartition> partitions) {
        partitions.forEach(this::requireAssigned);
        paused.addAll(partitions);
    }

    @Override
    public synchronized void resume(Collection<TopicPartition> partitions) {
        partitions.forEach(this::requireAssigned);
        paused.removeAll(partitions);
    }

    /// Asked in front of each commit, which finds folded what was handed on.
    @Override
    public synchronized Set<TopicPartition> paused() {
        life.awaitFolded(Map.copyOf(handedOn));
        return Set.copyOf(paused);
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(java.time.Duration timeout) {
        if (positions.isEmpty()) {
            throw new IllegalStateException("Consumer is not subscribed to any topics or assigned any partitions");
        }
        life.polls(Map.copyOf(handedOn));
        topic.step();
        requirePositions();
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
        Map<TopicPartition, OffsetAndMetadata> nexts = new LinkedHashMap<>();
        for (TopicPartition partition : List.copyOf(positions.keySet())) {
            Fetched fetched = paused.contains(partition) ? null : fetched(partition);
            if (fetched != null) {
                OffsetAndMetadata next = new OffsetAndMetadata(fetched.next(), Optional.of(fetched.epoch()), "");
                positions.put(partition, next);
                handedOn.computeIfPresent(partition.partition(), (_, _) -> next.offset());
                nexts.put(partition, next);
                records.put(
                        partition,
                        fetched.records().stream()
                                .map(each -> record(partition, each))
                                .toList());
            }
        }
        return new ConsumerRecords<>(records, nexts);
    }

    /// Asks the leader where that was not done; records that are there already are not held up by it.
    private void requirePositions() {
        Map<TopicPartition, Long> gone = new HashMap<>();
        Map<TopicPartition, Long> cut = new HashMap<>();
        positions.forEach((partition, position) -> {
            if (paused.contains(partition) || ahead.containsKey(partition) || !isThere(partition)) {
                return;
            }
            SimulatedPartition log = log(partition);
            Integer leader = leaders.put(partition, log.epoch());
            boolean isNew = leader == null || leader != log.epoch();
            if (isNew
                    && position.leaderEpoch().isPresent()
                    && log.isCutBelow(position.offset(), position.leaderEpoch().get())) {
                cut.put(partition, position.offset());
                leaders.remove(partition);
            } else if (!log.has(position.offset())) {
                gone.put(partition, position.offset());
            }
        });
        if (!cut.isEmpty()) {
            throw new LogTruncationException(cut, Map.of());
        }
        if (!gone.isEmpty()) {
            throw new OffsetOutOfRangeException(gone);
        }
    }

    private boolean isThere(TopicPartition partition) {
        return topic.exists() && partition.partition() < topic.partitions().size();
    }

    private SimulatedPartition log(TopicPartition partition) {
        return topic.partitions().get(partition.partition());
    }

    /// What comes now of a partition; `null` if nothing does.
    private Fetched fetched(TopicPartition partition) {
        Fetched before = ahead.remove(partition);
        if (before != null || !isThere(partition)) {
            return before;
        }
        topic.read();
        Fetched fetched = log(partition).fetch(positions.get(partition).offset(), 1 + random.nextInt(ENTRIES_MAX));
        if (fetched != null && random.nextInt(4) == 0) {
            ahead.put(partition, fetched);
            return null;
        }
        return fetched;
    }

    private static ConsumerRecord<byte[], byte[]> record(TopicPartition partition, SimulatedPartition.Entry entry) {
        byte[] value = SimulatedTopic.bytes(entry.sent());
        return new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                entry.offset(),
                1_000_000 + entry.offset(),
                TimestampType.CREATE_TIME,
                0,
                0,
                entry.sent().key().getBytes(StandardCharsets.UTF_8),
                value,
                new RecordHeaders(),
                Optional.of(entry.epoch()));
    }

    @Override
    public synchronized Map<MetricName, ? extends Metric> metrics() {
        double value = topic.connections();
        return Map.of(CONNECTIONS, new Metric() {
            @Override
            public MetricName metricName() {
                return CONNECTIONS;
            }

            @Override
            public Object metricValue() {
                return value;
            }
        });
    }

    @Override
    public synchronized void commitAsync(
            Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
        if (topic.isLost()) {
            callback.onComplete(offsets, new TimeoutException("lost"));
            return;
        }
        offsets.forEach((partition, offset) -> life.committed(partition.partition(), offset.offset()));
        callback.onComplete(offsets, null);
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
        throw new AssertionError("The offsets of the group are read");
    }

    @Override
    public void close(CloseOptions options) {}
}
