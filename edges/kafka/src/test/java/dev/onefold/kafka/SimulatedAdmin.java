package dev.onefold.kafka;

import dev.onefold.kafka.SimulatedPartition.Entry;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.DescribeProducersResult;
import org.apache.kafka.clients.admin.DescribeProducersResult.PartitionProducerState;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;

/// Answers questions about a [SimulatedTopic]. An answer may be lost. One that comes late is of the time of its
/// question: more has happened since.
record SimulatedAdmin(SimulatedTopic topic) {
    private static final Node BROKER = new Node(1, "broker", 9092);

    Admin client() {
        return (Admin) Proxy.newProxyInstance(
                Admin.class.getClassLoader(),
                new Class<?>[] {Admin.class},
                (_, method, arguments) -> answer(method.getName(), arguments));
    }

    private Object answer(String question, Object[] arguments) throws ReflectiveOperationException {
        topic.step();
        Object answer = switch (question) {
            case "describeCluster" -> cluster();
            case "describeTopics" -> topics();
            case "listOffsets" -> offsets((Map<?, ?>) arguments[0], (ListOffsetsOptions) arguments[1]);
            case "describeConfigs" -> configs((Collection<?>) arguments[0]);
            case "describeProducers" -> producers((Collection<?>) arguments[0]);
            case "close" -> null;
            default -> throw new AssertionError("Nobody answers " + question);
        };
        topic.step();
        return answer;
    }

    private <T> KafkaFuture<T> future(Supplier<T> value) {
        KafkaFutureImpl<T> future = new KafkaFutureImpl<>();
        if (topic.isLost()) {
            future.completeExceptionally(new TimeoutException("lost"));
        } else if (topic.isAbsent()) {
            future.completeExceptionally(new UnknownTopicOrPartitionException("no such topic"));
        } else {
            future.complete(value.get());
        }
        return future;
    }

    private Object cluster() throws ReflectiveOperationException {
        Constructor<?> constructor = DescribeClusterResult.class.getDeclaredConstructors()[0];
        constructor.setAccessible(true); // Kafka alone makes one.
        KafkaFutureImpl<String> id = new KafkaFutureImpl<>();
        if (topic.isLost()) {
            id.completeExceptionally(new TimeoutException("lost"));
        } else {
            id.complete(topic.cluster());
        }
        return constructor.newInstance(null, null, id, null);
    }

    private DescribeTopicsResult topics() {
        KafkaFuture<TopicDescription> description = future(() -> new TopicDescription(
                SimulatedTopic.NAME,
                false,
                IntStream.range(0, topic.answered())
                        .mapToObj(number -> new TopicPartitionInfo(number, BROKER, List.of(BROKER), List.of(BROKER)))
                        .toList(),
                Set.of(),
                topic.id()));
        return new DescribeTopicsResult(null, Map.of(SimulatedTopic.NAME, description)) {};
    }

    private ListOffsetsResult offsets(Map<?, ?> asked, ListOffsetsOptions options) {
        boolean isCommitted = options.isolationLevel() == IsolationLevel.READ_COMMITTED;
        Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> answers = new HashMap<>();
        asked.forEach((partition, spec) -> {
            TopicPartition of = (TopicPartition) partition;
            answers.put(of, future(() -> offset(of, (OffsetSpec) spec, isCommitted)));
        });
        return new ListOffsetsResult(answers);
    }

    private ListOffsetsResultInfo offset(TopicPartition partition, OffsetSpec spec, boolean isCommitted) {
        SimulatedPartition log = topic.partitions().get(partition.partition());
        Entry first = log.first();
        return switch (spec) {
            case OffsetSpec.EarliestSpec _ -> new ListOffsetsResultInfo(log.start(), -1, Optional.empty());
            case OffsetSpec.LatestSpec _ ->
                new ListOffsetsResultInfo(isCommitted ? log.stable() : log.end(), -1, Optional.of(log.epoch()));
            default ->
                first == null
                        ? new ListOffsetsResultInfo(-1, -1, Optional.empty())
                        : new ListOffsetsResultInfo(first.offset(), 1_000_000 + first.offset(), Optional.empty());
        };
    }

    private DescribeConfigsResult configs(Collection<?> asked) {
        ConfigResource resource = (ConfigResource) asked.iterator().next();
        return new DescribeConfigsResult(Map.of(resource, future(() -> new Config(List.of())))) {};
    }

    private Object producers(Collection<?> asked) throws ReflectiveOperationException {
        TopicPartition partition = (TopicPartition) asked.iterator().next();
        Constructor<?> constructor = DescribeProducersResult.class.getDeclaredConstructors()[0];
        constructor.setAccessible(true); // Kafka alone makes one.
        ProducerState producer = new ProducerState(
                1,
                0,
                0,
                0,
                OptionalInt.empty(),
                OptionalLong.of(topic.partitions().get(partition.partition()).stable()));
        return constructor.newInstance(Map.of(partition, future(() -> new PartitionProducerState(List.of(producer)))));
    }
}
