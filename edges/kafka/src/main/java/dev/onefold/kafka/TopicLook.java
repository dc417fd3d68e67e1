package dev.onefold.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.LeaderNotAvailableException;

/// Asks a cluster about a topic. Any thread.
///
/// @param answerMax how long an answer is waited for
/// @param ends whether nobody waits any more
record TopicLook(Admin admin, String topic, Duration answerMax, BooleanSupplier ends) {
    private static final long SLICE_MS = 100;

    /// A topic as the cluster describes it.
    ///
    /// @param partitions their numbers, ascending
    record Found(String cluster, String id, List<Integer> partitions) {}

    /// An answer that is under way. It describes the topic as it is after the question was asked: records that
    /// were read before are of this topic if it is the same.
    final class Asked {
        private final DescribeClusterResult cluster = admin.describeCluster();
        private final KafkaFuture<TopicDescription> description = Objects.requireNonNull(
                admin.describeTopics(Set.of(topic)).topicNameValues().get(topic));

        /// @throws KafkaException if there is no answer, or no such topic
        Found await() {
            TopicDescription found = TopicLook.this.await(description);
            return new Found(
                    TopicLook.this.await(cluster.clusterId()),
                    found.topicId().toString(),
                    found.partitions().stream()
                            .map(TopicPartitionInfo::partition)
                            .sorted()
                            .toList());
        }
    }

    Asked ask() {
        return new Asked();
    }

    /// The first offset that each partition still has.
    Map<Integer, Long> begins(Collection<Integer> partitions) {
        return offsets(partitions, OffsetSpec.earliest(), ListOffsetsResultInfo::offset);
    }

    /// The offset behind the last record of each partition, transactions that are open included.
    Map<Integer, Long> ends(Collection<Integer> partitions) {
        return offsets(partitions, OffsetSpec.latest(), ListOffsetsResultInfo::offset);
    }

    /// What a partition has, from its first offset up to its end.
    ///
    /// @param epoch of the leader that names the end; lower if it was deposed, and does not know it
    record Span(long begin, long end, int epoch) {}

    /// What each partition has that gives an answer in time; one without a leader gives none.
    Map<Integer, Span> spans(Collection<Integer> partitions) {
        ListOffsetsResult begins = listed(partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED);
        ListOffsetsResult ends = listed(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED);
        long until = System.nanoTime() + answerMax.toNanos();
        Map<Integer, Span> spans = new HashMap<>();
        for (int partition : partitions) {
            TopicPartition asked = new TopicPartition(topic, partition);
            try {
                long begin = await(begins.partitionResult(asked), until).offset();
                ListOffsetsResultInfo end = await(ends.partitionResult(asked), until);
                int epoch = end.leaderEpoch().orElse(Integer.MAX_VALUE);
                spans.put(partition, new Span(begin, end.offset(), epoch));
            } catch (org.apache.kafka.common.errors.TimeoutException e) {
                requireGoingOn();
            }
        }
        return spans;
    }

    /// The offset of each partition before which no transaction is open.
    Map<Integer, Long> stableEnds(Collection<Integer> partitions) {
        return offsets(
                listed(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED), ListOffsetsResultInfo::offset);
    }

    /// How long the topic keeps its records, in a sentence.
    String policy() {
        ConfigResource asked = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        try {
            Config config = await(Objects.requireNonNull(
                    admin.describeConfigs(Set.of(asked)).values().get(asked)));
            long ms = retentionMs(config);
            ConfigEntry policy = config.get(TopicConfig.CLEANUP_POLICY_CONFIG);
            String compacted = policy != null && policy.value().contains(TopicConfig.CLEANUP_POLICY_COMPACT)
                    ? "It is compacted: of each key the last record stays, and a delete for "
                            + value(config, TopicConfig.DELETE_RETENTION_MS_CONFIG)
                            + " ms. A reader that was away for longer misses deletes. "
                    : "";
            return compacted
                    + (ms < 0
                            ? "It keeps its records without a limit of time."
                            : "It keeps its records for "
                                    + Duration.ofMillis(ms).toHours() + " hours.");
        } catch (AuthorizationException e) {
            return "How long it keeps its records is not known: DESCRIBE_CONFIGS is not allowed. Reading does not need it.";
        }
    }

    private static String value(Config config, String name) {
        ConfigEntry entry = config.get(name);
        return entry == null ? "an unknown number of" : entry.value();
    }

    /// Where a partition ends.
    ///
    /// @param end behind the last record
    /// @param stable behind the last record that no open transaction is before
    record Ends(long end, long stable) {}

    /// Asks for the ends, and does not wait: a partition without a leader holds up no other.
    ///
    /// @param taker of each answer, in a thread of the client
    void askEnds(Collection<Integer> partitions, BiConsumer<Integer, Ends> taker) {
        ListOffsetsResult ends = listed(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED);
        ListOffsetsResult stable = listed(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED);
        for (int partition : partitions) {
            TopicPartition asked = new TopicPartition(topic, partition);
            KafkaFuture<ListOffsetsResultInfo> end = ends.partitionResult(asked);
            KafkaFuture<ListOffsetsResultInfo> held = stable.partitionResult(asked);
            var _ = KafkaFuture.allOf(end, held).whenComplete((_, failure) -> {
                if (failure == null) {
                    taker.accept(partition, new Ends(offset(end), offset(held)));
                }
            });
        }
    }

    private static long offset(KafkaFuture<ListOffsetsResultInfo> answered) {
        try {
            return answered.getNow(null).offset();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e); // It is there.
        }
    }

    /// Asks for the producers that a partition knows, and does not wait.
    ///
    /// @param taker of the answer, in a thread of the client
    void askProducers(int partition, Consumer<Collection<ProducerState>> taker) {
        TopicPartition asked = new TopicPartition(topic, partition);
        var _ = admin.describeProducers(Set.of(asked))
                .partitionResult(asked)
                .whenComplete((found, _) -> taker.accept(found == null ? List.of() : found.activeProducers()));
    }

    /// Asks how long the topic keeps a record, and does not wait.
    ///
    /// @param taker of the time in milliseconds, in a thread of the client; -1 if it has no limit or is not told
    void askRetention(LongConsumer taker) {
        ConfigResource asked = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        var _ = Objects.requireNonNull(
                        admin.describeConfigs(Set.of(asked)).values().get(asked))
                .whenComplete((found, _) -> taker.accept(found == null ? -1 : retentionMs(found)));
    }

    private static long retentionMs(Config config) {
        ConfigEntry policy = config.get(TopicConfig.CLEANUP_POLICY_CONFIG);
        ConfigEntry time = config.get(TopicConfig.RETENTION_MS_CONFIG);
        return policy != null
                        && policy.value().contains(TopicConfig.CLEANUP_POLICY_DELETE)
                        && time != null
                        && time.value() != null
                ? Long.parseLong(time.value())
                : -1;
    }

    /// The first offset of each partition whose record has at least this time; its end if there is none.
    Map<Integer, Long> from(Collection<Integer> partitions, long timeMs) {
        Map<Integer, Long> ends = ends(partitions); // Asked first: a record that comes between is read.
        Map<Integer, Long> found = offsets(partitions, OffsetSpec.forTimestamp(timeMs), ListOffsetsResultInfo::offset);
        found.replaceAll((partition, offset) -> offset < 0 ? ends.get(partition) : offset);
        return found;
    }

    /// The time of the first record that a partition still has; negative if it has none.
    long firstTime(int partition) {
        return of(partition, offsets(Set.of(partition), OffsetSpec.forTimestamp(0), ListOffsetsResultInfo::timestamp));
    }

    /// The value of a partition that was asked about.
    ///
    /// @throws LeaderNotAvailableException if it gave no answer
    static <T> T of(int partition, Map<Integer, T> values) {
        T value = values.get(partition);
        if (value == null) {
            throw new LeaderNotAvailableException("Partition " + partition + " has no leader that answers");
        }
        return value;
    }

    private Map<Integer, Long> offsets(
            Collection<Integer> partitions, OffsetSpec spec, Function<ListOffsetsResultInfo, Long> value) {
        return offsets(listed(partitions, spec, IsolationLevel.READ_UNCOMMITTED), value);
    }

    private Map<Integer, Long> offsets(ListOffsetsResult asked, Function<ListOffsetsResultInfo, Long> value) {
        Map<Integer, Long> offsets = new HashMap<>();
        await(asked.all()).forEach((partition, found) -> offsets.put(partition.partition(), value.apply(found)));
        return offsets;
    }

    private ListOffsetsResult listed(Collection<Integer> partitions, OffsetSpec spec, IsolationLevel level) {
        Map<TopicPartition, OffsetSpec> asked = partitions.stream()
                .collect(Collectors.toMap(partition -> new TopicPartition(topic, partition), _ -> spec));
        return admin.listOffsets(asked, new ListOffsetsOptions(level));
    }

    /// @throws org.apache.kafka.common.errors.TimeoutException if nobody waits any more
    void requireGoingOn() {
        if (ends.getAsBoolean()) {
            throw new org.apache.kafka.common.errors.TimeoutException("It ends");
        }
    }

    <T> T await(KafkaFuture<T> answer) {
        return await(answer, System.nanoTime() + answerMax.toNanos());
    }

    private <T> T await(KafkaFuture<T> answer, long until) {
        while (true) {
            requireGoingOn();
            try {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
                return answer.get(Math.clamp(leftMs, 0, SLICE_MS), TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof KafkaException failed ? failed : new KafkaException(e.getCause());
            } catch (TimeoutException e) {
                if (System.nanoTime() > until) {
                    throw new org.apache.kafka.common.errors.TimeoutException(
                            "No answer within " + answerMax.toSeconds() + " s", e);
                }
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }
    }
}
