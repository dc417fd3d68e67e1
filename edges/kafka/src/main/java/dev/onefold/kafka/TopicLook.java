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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.InterruptException;

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

    /// The same, asked and not waited for: a partition without a leader holds up no other.
    ///
    /// @param taker of each answer, in a thread of the client
    void askEnds(Collection<Integer> partitions, BiConsumer<Integer, Long> taker) {
        ListOffsetsResult asked = listed(partitions, OffsetSpec.latest());
        for (int partition : partitions) {
            var _ = asked.partitionResult(new TopicPartition(topic, partition)).whenComplete((found, failure) -> {
                if (failure == null) {
                    taker.accept(partition, found.offset());
                }
            });
        }
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
    static long of(int partition, Map<Integer, Long> values) {
        return Objects.requireNonNull(values.get(partition), "a partition that was not asked about");
    }

    private Map<Integer, Long> offsets(
            Collection<Integer> partitions, OffsetSpec spec, Function<ListOffsetsResultInfo, Long> value) {
        Map<Integer, Long> offsets = new HashMap<>();
        await(listed(partitions, spec).all())
                .forEach((partition, found) -> offsets.put(partition.partition(), value.apply(found)));
        return offsets;
    }

    private ListOffsetsResult listed(Collection<Integer> partitions, OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> asked = partitions.stream()
                .collect(Collectors.toMap(partition -> new TopicPartition(topic, partition), _ -> spec));
        return admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED));
    }

    /// @throws org.apache.kafka.common.errors.TimeoutException if nobody waits any more
    void requireGoingOn() {
        if (ends.getAsBoolean()) {
            throw new org.apache.kafka.common.errors.TimeoutException("It ends");
        }
    }

    <T> T await(KafkaFuture<T> answer) {
        long until = System.nanoTime() + answerMax.toNanos();
        while (true) {
            requireGoingOn();
            try {
                return answer.get(SLICE_MS, TimeUnit.MILLISECONDS);
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
