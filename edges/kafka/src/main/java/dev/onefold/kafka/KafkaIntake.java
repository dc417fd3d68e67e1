package dev.onefold.kafka;

import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.kafka.format.Awaited;
import dev.onefold.kafka.format.Decoding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/// Brings the records of a topic to an engine, each once.
///
/// Positions are in the engine's checkpoints and nowhere else: the consumer is assigned its partitions and put
/// at them, and what a group has committed is never read. With each position is a [TopicMark]. Whether the
/// topic is still the one of the marks is asked behind each poll and answered before anything of that poll is
/// folded; so a topic that was recreated under the name is not counted as the old one, as far as brokers know of it.
///
/// One thread reads, one folds, so that the question is answered while the poll before is folded.
///
/// A partition whose next record is gone, by retention or because the log was truncated, stops alone. Another
/// topic or cluster stops all. A cluster that gives no answer for a while is waited for: the reading begins
/// again at what was handed on to be folded. It is one idea: every step moves or checks the same places.
public final class KafkaIntake {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(2);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(5);
    private static final Duration COMMIT_EVERY = Duration.ofSeconds(5);
    private static final Duration PAUSE_MIN = Duration.ofMillis(200);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(10);
    private static final long OFFER_MS = 100;
    static final long POLL_BYTES_MAX =
            Math.max(16L << 20, Runtime.getRuntime().maxMemory() / 16); // Decoded: few bytes may mean many.

    private final KafkaClients clients;
    private final Origin.Kafka origin;
    private final EmbeddedEngine engine;
    private final java.util.function.Consumer<String> notes;
    private final Map<Integer, Reading> partitions = new TreeMap<>();
    private final Map<Integer, Integer> leaders = new HashMap<>(); // Epochs, by partition.
    private final Set<Integer> ended = new TreeSet<>(); // Partitions that have stopped.
    private final Set<Integer> silent = new TreeSet<>(); // Their last record is not compared yet: they are not read.
    private final List<String> stopped = new CopyOnWriteArrayList<>();
    private final List<Gap> gaps;
    private final BlockingQueue<List<Made>> read = new ArrayBlockingQueue<>(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private TopicLook.@Nullable Found known; // As the reading began.
    private long lookedNanos;
    private long committedNanos;
    private final TopicLag lag;
    private long handedOn; // Polls.
    private long polledBytes; // Of one poll, decoded.
    private long connections; // That the client has made until the last records were compared.
    private boolean isUnreachable;
    private volatile boolean isInterrupted;
    private Optional<Decoding> decoding = Optional.empty();
    private final Map<Integer, Awaited> awaited = new ConcurrentHashMap<>(); // By partition: it is not read meanwhile.

    /// The place in a partition up to which it was read, and handed on to be folded.
    private record Reading(long next, TopicMark mark) {}

    /// What was polled: what is to be folded, and the places behind it.
    private record Polled(List<Made> batches, Map<Integer, Reading> behind) {}

    /// A batch as a definition reads its records.
    ///
    /// @param as makes it for another definition
    private record Made(LogBatch batch, Pipeline definition, Function<RecordText, LogBatch> as) {}

    /// Offsets that a person accepts to be lost.
    ///
    /// @param from the partition's next offset
    /// @param to the first offset that the topic still has
    public record Gap(int partition, long from, long to) {}

    /// @param gaps that a person accepts before anything is read
    /// @param notes takes messages for a person
    public KafkaIntake(
            KafkaClients clients,
            Origin.Kafka origin,
            EmbeddedEngine engine,
            List<Gap> gaps,
            java.util.function.Consumer<String> notes) {
        this.gaps = List.copyOf(gaps);
        this.clients = clients;
        this.origin = origin;
        this.engine = engine;
        this.lag = new TopicLag(engine, origin.log(), number -> {
            Awaited record = awaited.get(number);
            return record == null ? "" : record.why();
        });
        this.notes = notes;
    }

    /// Why partitions are not read any more, a text each. Any thread.
    public List<String> stopped() {
        return List.copyOf(stopped);
    }

    /// Folds records until a stop is requested, or the thread is interrupted. What was read by then is folded
    /// first.
    ///
    /// @throws EngineException if this is not the topic that was folded, each of its partitions has
    ///     stopped, or the engine cannot continue
    /// @throws IllegalArgumentException if no client can be made
    public void run(BooleanSupplier stop) {
        BooleanSupplier ends = () -> isInterrupted || failure.get() != null || stop.getAsBoolean();
        decoding = clients.decoding(engine.directory(), true);
        Admin admin = clients.admin();
        try {
            Consumer<byte[], byte[]> consumer = clients.consumer();
            try {
                run(new TopicLook(admin, origin.topic(), ANSWER_MAX, ends), consumer, ends);
            } finally {
                consumer.close(CloseOptions.timeout(CLOSE_MAX));
            }
        } finally {
            admin.close(CLOSE_MAX);
        }
        switch (failure.get()) {
            case null -> {}
            case RuntimeException failed -> throw failed;
            case Error failed -> throw failed;
            case Throwable failed -> throw new IllegalStateException(failed);
        }
    }

    private void run(TopicLook look, Consumer<byte[], byte[]> consumer, BooleanSupplier ends) {
        Thread folding = Thread.ofPlatform().name("kafka-fold").start(() -> fold(ends));
        try {
            readUntil(look, consumer, ends);
        } catch (InterruptException e) {
            isInterrupted = true;
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            read().forEach(number -> lag.stopped(number, -1, String.valueOf(e.getMessage())));
            ended.addAll(partitions.keySet());
        } finally {
            join(folding);
            lag.forget(read());
        }
    }

    private void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join(POLL);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            if (engine.status().waitingForSpaceSince().isPresent()) {
                thread.interrupt(); // Nobody waits for a full disk any more.
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Folds what was read, in its order, until the reading ends and all of it is folded.
    private void fold(BooleanSupplier ends) {
        try {
            while (true) {
                boolean isLast = ends.getAsBoolean(); // Asked first: nothing is read behind an end.
                List<Made> next = read.poll(isLast ? 2 * OFFER_MS : OFFER_MS, TimeUnit.MILLISECONDS);
                if (next != null) {
                    next.forEach(this::fold);
                } else if (isLast) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
        }
    }

    /// Folds a batch; made again if another definition serves by now.
    private void fold(Made made) {
        LogBatch batch = made.batch;
        Pipeline definition = made.definition;
        while (engine.fold(batch, definition).isEmpty()) {
            definition = engine.pipeline();
            batch = made.as.apply(new RecordText(definition, Optional.empty()));
        }
    }

    /// Reads, and begins again where it was whenever the cluster gives no answer for a while.
    private void readUntil(TopicLook look, Consumer<byte[], byte[]> consumer, BooleanSupplier ends) {
        Duration pause = PAUSE_MIN;
        while (!ends.getAsBoolean()) {
            long folded = handedOn;
            try {
                read(look, consumer, ends);
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                if (ends.getAsBoolean()) {
                    return;
                }
                unreachable(e);
                pause = handedOn > folded ? PAUSE_MIN : pause;
                sleep(pause, ends);
                pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
            }
        }
    }

    private void read(TopicLook look, Consumer<byte[], byte[]> consumer, BooleanSupplier ends) {
        begin(look, consumer, found(look.ask()));
        Pipeline definition = engine.pipeline();
        RecordText text = new RecordText(definition, decoding);
        while (!ends.getAsBoolean()) {
            resume(consumer);
            lag.ask(look, read());
            if (silent.removeIf(lag::hasAnswered)) {
                compareLast(look, consumer);
            }
            ConsumerRecords<byte[], byte[]> records = poll(look, consumer);
            boolean hasMoved = !records.nextOffsets().isEmpty();
            if (!hasMoved && System.nanoTime() - lookedNanos < LOOK_EVERY.toNanos()) {
                continue;
            }
            TopicLook.Asked asked = look.ask();
            if (!engine.pipeline().equals(definition)) {
                definition = engine.pipeline();
                text = new RecordText(definition, decoding);
            }
            Polled polled = polled(records, text, definition);
            TopicLook.Found found = found(asked); // Nothing is folded before: nobody knows whose records these are.
            boolean isReconnected = isReconnected(consumer);
            if (isOfAnotherLeader(polled) || isReconnected) { // Perhaps another history, as of a restored disk.
                compareLast(look, consumer);
                continue;
            }
            boolean isBehind = addPartitions(found);
            if (!polled.batches.isEmpty()) {
                if (!offer(polled.batches, ends)) {
                    return;
                }
                partitions.putAll(polled.behind);
                polled.batches.forEach(made -> lag.read(made.batch));
                handedOn++;
            }
            if (isBehind || polledBytes > POLL_BYTES_MAX || !awaited.keySet().equals(paused(consumer))) {
                assign(consumer);
            }
            commit(consumer);
        }
    }

    /// Reads partitions again whose schema is known now.
    private void resume(Consumer<byte[], byte[]> consumer) {
        decoding.ifPresent(known -> awaited.replaceAll((_, record) -> known.awaiting(record)));
        List<Integer> over = awaited.entrySet().stream()
                .filter(record -> !record.getValue().isOpen())
                .map(Map.Entry::getKey)
                .toList();
        awaited.keySet().removeAll(over);
        consumer.resume(over.stream().map(this::partition).toList());
        if (!over.isEmpty()) {
            lag.askSoon(); // For their status.
        }
    }

    private static Set<Integer> paused(Consumer<byte[], byte[]> consumer) {
        return consumer.paused().stream().map(TopicPartition::partition).collect(Collectors.toSet());
    }

    /// The topic as the cluster describes it now, which must be the known one.
    private TopicLook.Found found(TopicLook.Asked asked) {
        TopicLook.Found found = asked.await();
        lookedNanos = System.nanoTime();
        TopicLook.Found before = known;
        if (before != null) {
            requireSame(found.cluster(), found.id(), before.cluster(), before.id());
        }
        if (isUnreachable) {
            isUnreachable = false;
            notes.accept("Topic " + origin.topic() + " can be read again.");
        }
        return found;
    }

    private List<Integer> read() {
        return partitions.keySet().stream()
                .filter(number -> !ended.contains(number))
                .toList();
    }

    /// The partitions that are read and whose last record is compared.
    private List<Integer> open() {
        return read().stream().filter(number -> !silent.contains(number)).toList();
    }

    private void unreachable(KafkaException e) {
        if (!isUnreachable) {
            isUnreachable = true;
            notes.accept("Topic " + origin.topic() + " cannot be read for now, and is tried again: " + why(e, origin));
        }
        lag.forget(read());
    }

    /// What a client says, with what it gives as its cause. To a broker that expects TLS or a login it says that
    /// there is no answer.
    static String why(KafkaException e, Origin.Kafka origin) {
        if (e instanceof UnknownTopicOrPartitionException) {
            return "it does not exist at " + origin.servers();
        }
        if (e instanceof TopicAuthorizationException) {
            return "its client lacks the right READ. Allow it: kafka-acls.sh --add --allow-principal User:NAME"
                    + " --operation Read --topic " + origin.topic();
        }
        return texts(e)
                + (e instanceof TimeoutException
                        ? ". No broker answers there, or security.protocol in the properties is another than the broker's"
                        : "");
    }

    /// The messages of a failure and its causes.
    static String texts(Throwable e) {
        Set<String> texts = new LinkedHashSet<>();
        for (Throwable at = e; at != null; at = at.getCause()) {
            if (at.getMessage() != null) {
                texts.add(at.getMessage());
            }
        }
        return String.join(": ", texts);
    }

    private static void sleep(Duration pause, BooleanSupplier ends) {
        long until = System.nanoTime() + pause.toNanos();
        while (!ends.getAsBoolean() && System.nanoTime() < until) {
            try {
                Thread.sleep(OFFER_MS);
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }
    }

    private void requireSame(String cluster, String id, String knownCluster, String knownId) {
        if (!cluster.equals(knownCluster)) {
            throw other("is of another cluster: " + cluster + ", and the records until now were of " + knownCluster);
        }
        if (!id.equals(knownId)) {
            throw other("was deleted and recreated: its id is " + id + ", and was " + knownId);
        }
    }

    private EngineException other(String how) {
        return new EngineException(
                EngineException.Kind.SOURCE_CHANGED,
                "Topic " + origin.topic() + " at " + origin.servers() + " " + how
                        + ". Nothing of it was folded. Offsets of one say nothing about the other. To go on with its records"
                        + " beside those that are folded, give it a name of its own (name under kafka); to count it alone,"
                        + " use another data directory, or 'onefold reset'.");
    }

    /// Puts the consumer at the positions, and checks that they are positions in this topic.
    private void begin(TopicLook look, Consumer<byte[], byte[]> consumer, TopicLook.Found topic) {
        boolean isFirst = known == null;
        if (isFirst) {
            beginPartitions(look, topic);
        }
        silent.clear();
        compareLast(look, consumer);
        if (isFirst) {
            known = topic;
            notes.accept("Reading topic " + origin.topic() + " ("
                    + (topic.partitions().size() == 1
                            ? "1 partition"
                            : topic.partitions().size() + " partitions")
                    + ").");
        }
    }

    /// Stops the partitions whose last record is another one now, leaves out those that do not answer, and puts the
    /// consumer at the places of the others.
    private void compareLast(TopicLook look, Consumer<byte[], byte[]> consumer) {
        boolean _ = isReconnected(consumer); // Asked first: behind a connection of now may be another history, too.
        LastRecords.Compared compared = new LastRecords(origin.topic(), consumer, look).with(marks());
        silent.addAll(compared.silent());
        awaited.keySet().removeAll(silent);
        lag.silent(compared.silent());
        compared.differing().keySet().forEach(number -> stop(look, consumer, number));
        assign(consumer);
    }

    /// Whether records that were polled are of a leader that was not known yet. Asked of each once.
    private boolean isOfAnotherLeader(Polled polled) {
        boolean[] isOther = {false};
        polled.behind.forEach((number, reading) -> reading.mark.place().ifPresent(place -> {
            Integer before = leaders.put(number, place.epoch());
            Optional<TopicMark.Place> kept = reading(number).mark.place();
            int known = before != null ? before : kept.isPresent() ? kept.get().epoch() : place.epoch();
            isOther[0] |= known != place.epoch();
        }));
        return isOther[0];
    }

    /// Whether the client has made a connection since the last records were compared: a broker that was restored
    /// and started again may have the same epochs as before.
    private boolean isReconnected(Consumer<byte[], byte[]> consumer) {
        long before = connections;
        connections = consumer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("connection-creation-total")
                        && metric.getKey().group().equals("consumer-metrics"))
                .mapToLong(metric -> ((Double) metric.getValue().metricValue()).longValue())
                .sum();
        return connections != before;
    }

    private void beginPartitions(TopicLook look, TopicLook.Found topic) {
        TopicMark fresh = TopicMark.fresh(topic);
        if (engine.partitions(origin.log()).isEmpty()) {
            engine.begin(origin.log(), new TreeMap<>(starts(look, topic.partitions())), fresh.text());
        }
        partitions.clear();
        engine.partitions(origin.log()).forEach((number, position) -> {
            TopicMark mark = TopicMark.read(position.mark()).orElse(fresh);
            partitions.put(number, new Reading(position.next(), mark));
        });
        partitions
                .values()
                .forEach(reading ->
                        requireSame(topic.cluster(), topic.id(), reading.mark.cluster(), reading.mark.topic()));
        requireOneOrder();
        gaps.forEach(gap -> accept(look, gap));
    }

    /// Passes over offsets that the topic has lost; nothing if that was done before.
    private void accept(TopicLook look, Gap gap) {
        Reading reading = partitions.get(gap.partition);
        String source = LogBatch.source(origin.log(), gap.partition);
        if (reading == null) {
            throw new IllegalArgumentException("There is no partition " + source + " to accept a gap in");
        }
        Position.Partition position =
                Objects.requireNonNull(engine.partitions(origin.log()).get(gap.partition));
        if (position.gaps().stream().anyMatch(known -> known.from() == gap.from && known.to() == gap.to)) {
            return;
        }
        long begin =
                TopicLook.of(gap.partition, look.spans(List.of(gap.partition))).begin();
        if (gap.to > begin) {
            throw new IllegalArgumentException("Offsets " + gap.from + " to " + gap.to + " of " + source
                    + " are not all lost: the topic has those from " + begin + " on");
        }
        engine.skip(origin.log(), gap.partition, gap.from, gap.to);
        partitions.put(gap.partition, new Reading(gap.to, reading.mark));
    }

    /// Offsets order the records of one partition alone. With them as versions a key that comes in another
    /// partition or topic would look older than it is.
    private void requireOneOrder() {
        if (isVersionOffset() && engine.status().logs().stream().anyMatch(log -> !isOf(log.source()))) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "The version is @offset, and the rows have offsets of another topic than " + origin.log()
                            + ": its records would look older than they are. Fold it into another data directory.");
        }
    }

    private boolean isOf(String source) {
        return source.substring(0, source.lastIndexOf('/')).equals(origin.log());
    }

    private boolean isVersionOffset() {
        return engine.pipeline().input().identity() instanceof Identity.Versioned versioned
                && versioned.version() != null
                && versioned.version().names().equals(List.of("@offset"));
    }

    private Map<Integer, TopicMark> marks() {
        return open().stream()
                .filter(number -> reading(number).mark.last().isPresent())
                .collect(Collectors.toMap(Function.identity(), number -> reading(number).mark));
    }

    private Map<Integer, Long> starts(TopicLook look, List<Integer> of) {
        Instant time = origin.start().time();
        Map<Integer, TopicLook.Span> spans = look.spans(of);
        Map<Integer, Long> times = time == null ? Map.of() : look.from(of, time.toEpochMilli());
        return of.stream().collect(Collectors.toMap(Function.identity(), number -> switch (origin.start()
                .kind()) {
            case BEGINNING -> TopicLook.of(number, spans).begin();
            case END -> TopicLook.of(number, spans).end();
            case TIME -> TopicLook.of(number, times);
        }));
    }

    /// Assigns all partitions that are read, and puts the consumer at their places.
    private void assign(Consumer<byte[], byte[]> consumer) {
        List<Integer> open = open();
        consumer.assign(open.stream().map(this::partition).toList());
        open.forEach(number -> {
            Reading reading = reading(number);
            consumer.seek(
                    partition(number), new OffsetAndMetadata(reading.next, reading.mark.epochAt(reading.next), ""));
            lag.at(number, reading.next);
        });
        consumer.pause(awaited.keySet().stream().map(this::partition).toList());
    }

    private TopicPartition partition(int number) {
        return new TopicPartition(origin.topic(), number);
    }

    /// A new partition begins at its beginning, whatever the start of the topic was. That is noted before
    /// anything of it is read: what it loses by then is lost records, too.
    ///
    /// @return whether there are any
    private boolean addPartitions(TopicLook.Found topic) {
        List<Integer> added = topic.partitions().stream()
                .filter(number -> !partitions.containsKey(number))
                .toList();
        if (added.isEmpty()) {
            return false;
        }
        if (isVersionOffset()) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Topic " + origin.topic() + " has other partitions than before: " + added
                            + " is new. The version is"
                            + " @offset, and records of a key in a new partition would look older than they are. Nothing"
                            + " more is folded. Fold the topic into another data directory, with another version.");
        }
        TopicMark fresh = TopicMark.fresh(topic);
        TreeMap<Integer, Long> begins = new TreeMap<>();
        added.forEach(number -> begins.put(number, 0L));
        engine.begin(origin.log(), begins, fresh.text());
        added.forEach(number -> partitions.put(number, new Reading(0, fresh)));
        notes.accept("Topic " + origin.topic() + " has "
                + (added.size() == 1 ? "another partition" : added.size() + " more partitions") + ": " + added + ".");
        return true;
    }

    private ConsumerRecords<byte[], byte[]> poll(TopicLook look, Consumer<byte[], byte[]> consumer) {
        if (consumer.assignment().isEmpty()) { // No partition has a leader.
            sleep(POLL, () -> false);
            return ConsumerRecords.empty();
        }
        try {
            return consumer.poll(POLL);
        } catch (OffsetOutOfRangeException e) {
            e.offsetOutOfRangePartitions().forEach((partition, at) -> stop(look, consumer, partition.partition()));
        }
        return ConsumerRecords.empty();
    }

    /// Stops a partition whose next record is gone; the others are read on.
    private void stop(TopicLook look, Consumer<byte[], byte[]> consumer, int number) {
        TopicLook.Found _ = found(look.ask()); // In a topic that was recreated the position means nothing.
        Reading reading = reading(number);
        TopicLook.Span span = TopicLook.of(number, look.spans(List.of(number)));
        String text = reading.next < span.begin()
                ? gone(number, reading.next, span.begin(), look.firstTime(number))
                : "Partition " + LogBatch.source(origin.log(), number) + " was folded up to offset " + reading.next
                        + ", and the topic has other records there or none: it ends at offset " + span.end()
                        + ". It was truncated or restored; what was folded behind that is in the totals. Nothing more of"
                        + " the partition is folded. Compare with its source (verify --against), or use another data"
                        + " directory.";
        stopped.add(text);
        ended.add(number);
        awaited.remove(number);
        lag.stopped(number, span.end(), text);
        notes.accept(text);
        assign(consumer);
        if (read().isEmpty()) {
            throw new EngineException(EngineException.Kind.SOURCE_CHANGED, text);
        }
    }

    private String gone(int number, long next, long begin, long firstMs) {
        String source = LogBatch.source(origin.log(), number);
        return "Records of " + source + " are gone before they were folded: all below offset " + next
                + " are folded, and the topic begins at offset " + begin
                + (firstMs < 0 ? "" : " (" + Instant.ofEpochMilli(firstMs) + ")") + " now, so at most "
                + (begin - next) + " records are lost. Nothing more of the partition is folded. Seed their rows from"
                + " where they came from, or accept the loss: 'onefold run PIPELINE --accept-gap " + source + ":"
                + next + "-" + begin + "'.";
    }

    private Reading reading(int partition) {
        return Objects.requireNonNull(partitions.get(partition), "a partition that is not read");
    }

    /// What was polled, up to the places that the client names: behind control records and aborted ones.
    private Polled polled(ConsumerRecords<byte[], byte[]> records, RecordText text, Pipeline definition) {
        List<Made> batches = new ArrayList<>();
        Map<Integer, Reading> behind = new HashMap<>();
        polledBytes = 0;
        records.nextOffsets().forEach((partition, end) -> {
            Reading reading = reading(partition.partition());
            List<ConsumerRecord<byte[], byte[]>> polled = records.records(partition);
            List<RecordText.Decoded> taken = new ArrayList<>();
            List<LogBatch.Entry> entries = entries(partition.partition(), polled, text, taken);
            OffsetAndMetadata next = entries.size() == polled.size() ? end : place(polled.get(entries.size()));
            if (next.offset() > reading.next) {
                TopicMark mark = reading.mark.behind(polled.subList(0, entries.size()), next);
                Function<List<LogBatch.Entry>, LogBatch> as = of ->
                        new LogBatch(origin.log(), partition.partition(), reading.next, next.offset(), of, mark.text());
                batches.add(new Made(
                        as.apply(entries),
                        definition,
                        of -> as.apply(taken.stream().map(one -> entry(one, of)).toList())));
                behind.put(partition.partition(), new Reading(next.offset(), mark));
            }
        });
        return new Polled(batches, behind);
    }

    private static OffsetAndMetadata place(ConsumerRecord<byte[], byte[]> record) {
        return new OffsetAndMetadata(record.offset(), record.leaderEpoch(), "");
    }

    private static LogBatch.Entry entry(RecordText.Decoded decoded, RecordText text) {
        ConsumerRecord<byte[], byte[]> record = decoded.record();
        return new LogBatch.Entry(record.offset(), text.of(decoded), record.timestamp());
    }

    /// The records in front of one whose schema nobody tells yet, or for which there is no room.
    ///
    /// @param taken gets them as they were decoded
    private List<LogBatch.Entry> entries(
            int partition,
            List<ConsumerRecord<byte[], byte[]>> polled,
            RecordText text,
            List<RecordText.Decoded> taken) {
        List<LogBatch.Entry> entries = new ArrayList<>();
        try {
            for (int i = 0; i < polled.size() && polledBytes <= POLL_BYTES_MAX; i++) {
                taken.add(text.decoded(polled.get(i)));
                entries.add(entry(taken.getLast(), text));
                polledBytes +=
                        entries.getLast().bytes().length + taken.getLast().bytes();
            }
        } catch (Awaited e) {
            awaited.put(partition, e);
            lag.askSoon(); // For its status.
        }
        return entries;
    }

    private boolean offer(List<Made> batches, BooleanSupplier ends) {
        try {
            while (!read.offer(batches, OFFER_MS, TimeUnit.MILLISECONDS)) {
                if (ends.getAsBoolean()) {
                    return false;
                }
            }
            return true;
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /// Tells the group where the engine is, for tools that show the lag. It is never read back.
    private void commit(Consumer<byte[], byte[]> consumer) {
        if (clients.group() == null || System.nanoTime() - committedNanos < COMMIT_EVERY.toNanos()) {
            return;
        }
        committedNanos = System.nanoTime();
        Map<TopicPartition, OffsetAndMetadata> durable = new HashMap<>();
        engine.durableOffsets(origin.log())
                .forEach((number, next) ->
                        durable.put(new TopicPartition(origin.topic(), number), new OffsetAndMetadata(next)));
        consumer.commitAsync(durable, (_, e) -> {
            if (e != null && stopped.isEmpty()) {
                notes.accept("Group " + clients.group() + " could not be told where the engine is, so tools show no"
                        + " lag: " + e.getMessage());
            }
        });
    }
}
