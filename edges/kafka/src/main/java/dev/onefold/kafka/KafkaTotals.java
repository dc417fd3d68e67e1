package dev.onefold.kafka;

import dev.onefold.core.TotalsTable;
import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.TotalsTable.Unavailable;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/// Totals in a topic of Kafka: a record for each group, with its absolute values. A cut is a transaction, or
/// several, and its last record in each partition is a [CutMarker].
///
/// An owner takes the topic over before it writes. It fences everybody else, reads the keys and the markers that
/// are there, and writes a record that says that it is the owner, with a greater generation than all before. Then
/// all groups are written. The same is done whenever it is not certain that the topic is as this owner left it:
/// a transaction failed, or was fenced, or the ends are others, or the topic is. An owner that finds a later one
/// fences nobody and writes no more.
///
/// One thread writes; another one may close it.
public final class KafkaTotals implements AutoCloseable {
    private static final String TRANSACTIONAL_ID = "onefold-totals-";
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    /// Old records of a group are left for readers that are behind.
    private static final Duration COMPACTION_LAG_MIN = Duration.ofHours(1);
    /// Offsets that a marker and the end of its transaction take.
    private static final int END_OFFSETS = 2;

    private final String pipeline;
    private final Publishing.Topic to;
    private final KafkaClients clients;
    private final String name = UUID.randomUUID().toString();
    private final Map<String, Map<Bytes, byte[]>> known = new HashMap<>();
    private volatile boolean isClosed;
    private @Nullable Admin admin;
    private volatile @Nullable Producer<byte[], byte[]> producer; // Of an owner that has the topic.
    private TopicLook.@Nullable Found topic;
    private String lost = ""; // Why this topic is never this owner's again; empty if it may be.
    private @Nullable Pipeline written; // The definition of the last session.
    private Map<Integer, Long> left = Map.of();
    private @Nullable CutMarker last;
    private long generation; // 0 until it is an owner.
    private int partitions;
    private boolean isWhole;
    private @Nullable Set<Bytes> keys;

    private KafkaTotals(String pipeline, Publishing.Topic to, KafkaClients clients) {
        this.pipeline = pipeline;
        this.to = to;
        this.clients = clients;
    }

    /// Opens the copy of a pipeline's totals. No connection is made.
    ///
    /// @param folder of the pipeline file
    /// @throws IllegalArgumentException if the properties cannot be read, or are not possible
    public static KafkaTotals open(
            String pipeline, Publishing.Topic to, Path folder, UnaryOperator<@Nullable String> environment) {
        return new KafkaTotals(
                pipeline, to, new KafkaClients(to.servers(), to.properties(), Optional.empty(), folder, environment));
    }

    /// The copy for a definition.
    public TotalsTable of(Pipeline served) {
        return () -> begin(served);
    }

    private TotalsTable.Session begin(Pipeline served) {
        try {
            TopicLook look = look();
            TopicLook.Found found = found(look);
            if (!lost.isEmpty() && found.equals(topic)) {
                throw new Unavailable(lost, null); // It is read no more.
            }
            if (producer == null
                    || !found.equals(topic)
                    || !served.equals(written)
                    || !isAsLeft(look.ends(found.partitions()))) {
                takeOver(look, found);
                written = served;
            }
            return new TotalsSession(this, served);
        } catch (KafkaException | IllegalArgumentException e) {
            throw unavailable(e);
        }
    }

    private TopicLook look() {
        Admin asked = admin;
        if (asked == null) {
            asked = clients.admin();
            admin = asked;
        }
        return new TopicLook(asked, to.table(), ANSWER_MAX, () -> isClosed);
    }

    private TopicLook.Found found(TopicLook look) {
        try {
            return look.ask().await();
        } catch (UnknownTopicOrPartitionException missing) {
            create(look);
        }
        long until = System.nanoTime() + ANSWER_MAX.toNanos();
        while (true) {
            try {
                return look.ask().await();
            } catch (UnknownTopicOrPartitionException e) {
                if (System.nanoTime() > until) {
                    throw e;
                }
                Thread.onSpinWait(); // The broker that was asked has not heard of it yet.
            }
        }
    }

    private void create(TopicLook look) {
        NewTopic fresh = new NewTopic(to.table(), Optional.empty(), Optional.empty())
                .configs(Map.of(
                        TopicConfig.CLEANUP_POLICY_CONFIG,
                        TopicConfig.CLEANUP_POLICY_COMPACT,
                        TopicConfig.MIN_COMPACTION_LAG_MS_CONFIG,
                        Long.toString(COMPACTION_LAG_MIN.toMillis())));
        try {
            look.await(look.admin().createTopics(Set.of(fresh)).all());
        } catch (TopicExistsException e) {
            return; // Somebody else has just created it.
        } catch (TopicAuthorizationException e) {
            throw new Unavailable(
                    "The topic " + to.table() + " is not there, and may not be created. Create it with"
                            + " cleanup.policy=compact and min.compaction.lag.ms="
                            + COMPACTION_LAG_MIN.toMillis(),
                    e);
        }
    }

    private void requireCompacted(TopicLook look) {
        ConfigResource of = new ConfigResource(ConfigResource.Type.TOPIC, to.table());
        String policy = look.await(Objects.requireNonNull(
                        look.admin().describeConfigs(Set.of(of)).values().get(of)))
                .get(TopicConfig.CLEANUP_POLICY_CONFIG)
                .value();
        if (!TopicConfig.CLEANUP_POLICY_COMPACT.equals(policy)) {
            throw new Unavailable(
                    "The topic " + to.table() + " has cleanup.policy=" + policy
                            + ", so groups that do not change would be deleted. Set it to compact alone, or name"
                            + " another topic",
                    null);
        }
    }

    /// Whether nobody has written since. The end of the last transaction may still be on its way.
    private boolean isAsLeft(Map<Integer, Long> ends) {
        return ends.entrySet().stream().allMatch(end -> {
            long expected = TopicLook.of(end.getKey(), left);
            return end.getValue() == expected || end.getValue() == expected - 1;
        });
    }

    private void takeOver(TopicLook look, TopicLook.Found found) {
        drop();
        lost = "";
        topic = found;
        requireCompacted(look);
        try (TopicKeys read = new TopicKeys(look, look.begins(found.partitions()), clients.consumer())) {
            read.read(look.stableEnds(found.partitions()));
            requireOwner(read); // The owner is not even fenced.
            Producer<byte[], byte[]> own = clients.producer(TRANSACTIONAL_ID + to.table());
            producer = own;
            own.initTransactions();
            Map<Integer, Long> ends = look.ends(found.partitions());
            read.read(ends); // A claim or a marker may be behind a foreign transaction that is open.
            requireOwner(read);
            last = read.last();
            left = ends;
            CutMarker owner = read.owner();
            CutMarker any = last == null ? owner : last;
            partitions = any == null ? found.partitions().size() : any.partitions();
            if (owner == null || !owner.mark().writer().equals(name)) {
                claim(own, owner);
            }
            keys = read.keys();
        } catch (RuntimeException e) {
            drop();
            throw e;
        }
    }

    private void requireOwner(TopicKeys read) {
        CutMarker owner = read.owner();
        if (owner != null && !owner.pipeline().equals(pipeline)) {
            lost = "The topic " + to.table() + " has the totals of pipeline " + owner.pipeline()
                    + ". Name another topic under 'publish'";
        }
        if (owner != null
                && generation > 0
                && owner.generation() >= generation
                && !owner.mark().writer().equals(name)) {
            lost = "Another engine publishes to the same topic since "
                    + owner.mark().at()
                    + ", so this one has stopped doing so. Name another topic under 'publish', or stop the"
                    + " other engine and start this one again";
        }
        if (!lost.isEmpty()) {
            throw new Unavailable(lost, null);
        }
    }

    /// Says that this is the owner now. Seconds are in the generation because a topic that was recreated begins
    /// above the one before it.
    private void claim(Producer<byte[], byte[]> own, @Nullable CutMarker before) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        long above = Math.max(generation, before == null ? 0 : before.generation()) + 1;
        generation = Math.max(above, now.getEpochSecond());
        CutMarker claim = new CutMarker(
                pipeline,
                generation,
                partitions,
                new Mark(last == null ? 0 : last.mark().cut(), name, now));
        own.beginTransaction();
        Future<RecordMetadata> sent = own.send(new ProducerRecord<>(
                to.table(),
                0,
                null,
                CutMarker.OWNER_KEY.getBytes(StandardCharsets.UTF_8),
                claim.json(0),
                claim.headers()));
        own.commitTransaction();
        left.put(0, behind(sent));
    }

    /// The end of a partition when the transaction of its last record is committed.
    static long behind(Future<RecordMetadata> sent) {
        try {
            return sent.get().offset() + END_OFFSETS;
        } catch (ExecutionException e) {
            throw new KafkaException(e.getCause());
        } catch (InterruptedException e) {
            throw new org.apache.kafka.common.errors.InterruptException(e);
        }
    }

    /// The producer of the owner.
    Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> own = producer;
        if (own == null) {
            throw new Unavailable("The copy is closed", null);
        }
        return own;
    }

    /// The marker that a cut gets.
    CutMarker marker(Mark mark) {
        return new CutMarker(pipeline, generation, partitions, mark);
    }

    String topic() {
        return to.table();
    }

    /// All partitions of the topic; groups are in the first ones.
    Set<Integer> all() {
        return left.keySet();
    }

    Optional<Mark> mark() {
        return Optional.ofNullable(last).map(CutMarker::mark);
    }

    boolean isWhole() {
        return isWhole;
    }

    /// The groups, with their values, of the roll-ups that are written whole at each change.
    Map<String, Map<Bytes, byte[]>> known() {
        return known;
    }

    /// The keys of the groups that the topic has.
    Set<Bytes> keys() {
        Set<Bytes> there = keys;
        if (there == null) {
            TopicLook look = look();
            try (TopicKeys read = new TopicKeys(look, look.begins(left.keySet()), clients.consumer())) {
                read.read(left); // Not further: the transaction of this cut is open behind it.
                there = read.keys();
                keys = there;
            }
        }
        return there;
    }

    /// A cut is in the topic.
    ///
    /// @param ends offsets behind it
    void settle(CutMarker marker, Map<Integer, Long> ends) {
        last = marker;
        left = ends;
        keys = null;
        isWhole = true;
    }

    /// Nobody knows what the topic has: it is taken over again, and all groups are written.
    void drop() {
        Producer<byte[], byte[]> own = producer;
        producer = null;
        isWhole = false;
        keys = null;
        known.clear();
        if (own != null) {
            own.close(Duration.ZERO);
        }
    }

    Unavailable unavailable(RuntimeException e) {
        Throwable cause = e.getCause() instanceof KafkaException inner ? inner : e;
        String message =
                Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
        return new Unavailable(
                "Kafka at " + to.servers() + " says: " + message.strip().replaceFirst("\\.$", ""), e);
    }

    @Override
    public void close() {
        isClosed = true;
        Producer<byte[], byte[]> own = producer;
        if (own != null) {
            own.close(Duration.ZERO);
        }
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
    }
}
