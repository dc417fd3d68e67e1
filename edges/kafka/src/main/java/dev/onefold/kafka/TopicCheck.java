package dev.onefold.kafka;

import dev.onefold.core.pipeline.Origin;
import dev.onefold.embedded.EmbeddedEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;

/// What a topic is and what of it this client may read, for a person who sets up a pipeline. Changes nothing.
public final class TopicCheck {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final int PARTITIONS_SHOWN_MAX = 20;

    private final KafkaClients clients;
    private final Origin.Kafka origin;

    public TopicCheck(KafkaClients clients, Origin.Kafka origin) {
        this.clients = clients;
        this.origin = origin;
    }

    /// The ids, the partitions with their first offset and their end, and how long records are kept.
    ///
    /// @return sentences
    /// @throws IllegalArgumentException if the topic cannot be described: says why
    public List<String> facts() {
        try (Admin admin = clients.admin()) {
            TopicLook look = new TopicLook(admin, origin.topic(), ANSWER_MAX, () -> false);
            TopicLook.Found found = look.ask().await();
            Map<Integer, TopicLook.Span> spans = look.spans(found.partitions());
            List<String> facts = new ArrayList<>();
            facts.add("Topic " + origin.topic() + " at " + origin.servers() + " has the id " + found.id()
                    + " in the cluster " + found.cluster() + ". Positions are kept with both.");
            found.partitions().stream().limit(PARTITIONS_SHOWN_MAX).forEach(number -> {
                TopicLook.Span span = TopicLook.of(number, spans);
                facts.add("Partition " + number + " has the offsets from " + span.begin() + " up to its end, "
                        + span.end() + ".");
            });
            if (found.partitions().size() > PARTITIONS_SHOWN_MAX) {
                facts.add("It has " + found.partitions().size() + " partitions in all.");
            }
            facts.add(look.policy());
            return facts;
        } catch (KafkaException e) {
            throw new IllegalArgumentException(
                    "Topic " + origin.topic() + " cannot be described: " + KafkaIntake.why(e, origin), e);
        }
    }

    /// Folds the first records, up to the end that the topic has now.
    ///
    /// @param recordsMax after about which it stops
    /// @throws IllegalArgumentException if no client can be made, or it gets no record
    /// @param notes takes messages for a person
    public void fold(EmbeddedEngine engine, int recordsMax, Consumer<String> notes) {
        Map<Integer, Long> ends;
        try (Admin admin = clients.admin()) {
            TopicLook look = new TopicLook(admin, origin.topic(), ANSWER_MAX, () -> false);
            ends = look.stableEnds(look.ask().await().partitions());
        }
        long until = System.nanoTime() + ANSWER_MAX.toNanos();
        new KafkaIntake(clients, origin, engine, List.of(), notes).run(() -> {
            Map<Integer, Long> next = engine.offsets(origin.log());
            return engine.counts().records() >= recordsMax
                    || System.nanoTime() > until
                    || next.size() == ends.size()
                            && next.entrySet().stream()
                                    .allMatch(at -> at.getValue() >= ends.getOrDefault(at.getKey(), 0L));
        });
        if (engine.counts().records() == 0 && System.nanoTime() > until) {
            throw new IllegalArgumentException("Topic " + origin.topic() + " has records, and none of them came within "
                    + ANSWER_MAX.toSeconds() + " s");
        }
    }
}
