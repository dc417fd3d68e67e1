package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.framing.Position;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.kafka.SimulatedPartition.Branch;
import dev.onefold.kafka.SimulatedPartition.Entry;
import dev.onefold.kafka.SimulatedPartition.Kind;
import dev.onefold.kafka.SimulatedTopic.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/// The life of an engine that reads a [SimulatedTopic], through crashes and from copies of its data directory. After
/// each of its runs, and at its end, the totals are compared with what plain maps say of the topic: they are of the
/// records of one history of each partition, up to the position and no others; at the end of all records, or the
/// partition has stopped aloud and for a reason.
final class KafkaLife {
    private static final long ENDING_POLLS_MAX = 500;
    private static final int WAITS_MAX = 4_000; // Of 5 ms.
    private static final int CRASH_CHANGE_MAX = 150;

    private final RandomGenerator random;
    private final SimulatedTopic topic;
    private final boolean isTable; // The version of a record is its offset, and one without a value deletes.
    private final Pipeline pipeline;
    private final Map<Integer, Long> committed = new TreeMap<>();
    private final Set<KafkaIntake.Gap> accepted = new HashSet<>();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private SimulatedDisk disk = SimulatedDisk.empty();
    private @Nullable SimulatedDisk older;
    private @Nullable EmbeddedEngine engine;
    private @Nullable SimulatedConsumer consumer;
    private @Nullable Thread folding;
    private long pollsLeft;
    private boolean isEnding;
    private volatile boolean isStopping;

    KafkaLife(RandomGenerator random, List<Fault> faults) {
        this.random = random;
        topic = new SimulatedTopic(random, faults);
        isTable = random.nextInt(4) == 0;
        pipeline = pipeline(
                isTable
                        ? "\"key\":\"@key\",\"version\":\"@offset\",\"delete\":\"@tombstone = true\""
                        : "\"key\":\"TradeID\",\"version\":\"Version\"");
    }

    private static Pipeline pipeline(String identity) {
        String text =
                "{\"pipeline\":\"p\",\"input\":{\"from\":{\"kafka\":{\"topic\":\"trades\",\"servers\":\"broker:9092\"}},"
                        + identity
                        + "},\"rollup\":{\"levels\":[\"TradeID\"],\"measures\":{\"value\":\"sum(Value) decimal(18,0)\"}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    void live() {
        for (int runs = 2 + random.nextInt(4); runs > 0; runs--) {
            run();
            disk = afterwards();
        }
        topic.heal();
        isEnding = true;
        run();
    }

    /// What the next run finds of the data directory.
    private SimulatedDisk afterwards() {
        boolean isCrashed = !disk.isOpen();
        if (older != null && topic.has(Fault.OLDER_COPY) && random.nextInt(6) == 0) {
            committed.clear();
            return older.copy();
        }
        SimulatedDisk next = isCrashed && random.nextBoolean() ? disk.crash(random) : disk.kill();
        if (random.nextInt(3) == 0) {
            older = next.copy();
        }
        return next;
    }

    private void run() {
        if (topic.has(Fault.CRASHES) && !isEnding && random.nextBoolean()) {
            disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, CRASH_CHANGE_MAX)));
        }
        pollsLeft = random.nextInt(5, 45);
        isStopping = false;
        folding = null;
        try (EmbeddedEngine opened = EmbeddedEngine.open(disk.getPath("/data"), pipeline, settings())) {
            engine = opened;
            committed.forEach((number, offset) -> assertThat(
                            opened.offsets(SimulatedTopic.NAME).getOrDefault(number, 0L))
                    .as("what the group was told of partition %d is not durable", number)
                    .isGreaterThanOrEqualTo(offset));
            requireContent(false, Set.of());
            intake();
        } catch (RuntimeException | Error e) {
            if (disk.isOpen() || hasFailed(e)) {
                throw e;
            }
        }
    }

    private static boolean hasFailed(@Nullable Throwable e) {
        return e != null
                && (e instanceof AssertionError
                        || hasFailed(e.getCause())
                        || Arrays.stream(e.getSuppressed()).anyMatch(KafkaLife::hasFailed));
    }

    private Settings settings() {
        return Settings.defaults()
                .withThreads(0)
                .withShards(1 + random.nextInt(2))
                .withStateBytesMax(1L << 28)
                .withCheckpointInterval(random.nextBoolean() ? Duration.ZERO : Duration.ofDays(1));
    }

    private EmbeddedEngine engine() {
        return Objects.requireNonNull(engine);
    }

    private void intake() {
        Origin.Kafka origin = (Origin.Kafka) Objects.requireNonNull(pipeline.origin());
        KafkaClients clients = new KafkaClients(
                "lag",
                () -> consumer = new SimulatedConsumer(topic, this, random),
                () -> new SimulatedAdmin(topic).client());
        KafkaIntake intake = new KafkaIntake(clients, origin, engine(), gaps(), notes::add);
        EngineException refusal = null;
        try {
            intake.run(this::stops);
        } catch (IllegalArgumentException e) { // A gap that was accepted means nothing in another topic.
            assertThat(e).hasMessageContaining("are not all lost");
            assertThat(isAnother()).isTrue();
            return;
        } catch (EngineException e) {
            if (!disk.isOpen()) {
                return;
            }
            refusal = e;
        }
        Set<Integer> stopped = stopped(intake.stopped());
        requireContent(refusal == null, stopped);
        if (refusal != null) {
            requireRefusable(refusal, stopped);
        }
        if (isEnding) {
            if (refusal == null) {
                requireEnd(stopped);
            }
            assertThat(engine().verify().differences()).isEmpty();
            if (refusal == null && stopped.isEmpty()) {
                readAgain(clients, origin);
            }
        }
    }

    private Set<Integer> numbers() {
        return engine().offsets(SimulatedTopic.NAME).keySet();
    }

    private SimulatedPartition begun(int number) {
        return begun(engine().partitions(SimulatedTopic.NAME).get(number)).get(number);
    }

    /// Whether the engine has begun with a topic that was recreated since.
    private boolean isAnother() {
        return engine().partitions(SimulatedTopic.NAME).values().stream()
                .anyMatch(position -> !begun(position).equals(topic.partitions()));
    }

    private static Set<Integer> stopped(List<String> texts) {
        return texts.stream()
                .map(text -> text.replaceAll("(?s).*?trades/([0-9]+).*", "$1"))
                .map(Integer::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// Sometimes a person accepts what retention has taken.
    private List<KafkaIntake.Gap> gaps() {
        List<KafkaIntake.Gap> gaps = new ArrayList<>();
        if (topic.exists() && !isAnother() && random.nextBoolean()) {
            engine().offsets(SimulatedTopic.NAME).forEach((number, next) -> {
                long start = begun(number).start();
                if (next < start && !isCut(number, next)) {
                    gaps.add(new KafkaIntake.Gap(number, next, start));
                }
            });
        }
        accepted.addAll(gaps);
        return gaps;
    }

    // Called by the clients of the run.

    private boolean stops() {
        if (Thread.currentThread().getName().equals("kafka-fold")) {
            synchronized (this) {
                folding = Thread.currentThread();
                notifyAll();
            }
        }
        return isStopping;
    }

    /// A poll begins when all is folded that was handed on: so a seed has one life.
    void polls(Map<Integer, Long> handedOn) {
        awaitFolded(handedOn);
        if (isEnding) {
            if (!handedOn.isEmpty() && isAtEnd()) {
                isStopping = true;
            } else if (pollsLeft-- < -ENDING_POLLS_MAX) {
                throw new AssertionError("The reading does not come to the end: " + notes);
            }
        } else if (--pollsLeft <= 0) {
            isStopping = true;
        }
    }

    synchronized void awaitFolded(Map<Integer, Long> handedOn) {
        for (int i = 0; !isFolded(handedOn) && (folding == null || folding.isAlive()); i++) {
            assertThat(i)
                    .as(
                            "the reader has gone on to %s, and the engine is at %s",
                            handedOn, engine().offsets(SimulatedTopic.NAME))
                    .isLessThan(WAITS_MAX);
            try {
                wait(5);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private boolean isFolded(Map<Integer, Long> handedOn) {
        return handedOn.entrySet().stream()
                .allMatch(each ->
                        engine().offsets(SimulatedTopic.NAME).getOrDefault(each.getKey(), 0L) >= each.getValue());
    }

    private boolean isAtEnd() {
        Map<Integer, Long> folded = engine().offsets(SimulatedTopic.NAME);
        List<SimulatedPartition> partitions = topic.partitions();
        return folded.size() == partitions.size()
                && Objects.requireNonNull(consumer).assignment().stream()
                        .map(TopicPartition::partition)
                        .allMatch(number ->
                                folded.get(number) == partitions.get(number).end());
    }

    void committed(int partition, long offset) {
        committed.put(partition, offset);
    }

    // What must be right.

    /// The rows are those of one history of each partition; of the one that is now, unless it has stopped.
    private void requireContent(boolean isOver, Set<Integer> stopped) {
        Map<String, Long> rows = new HashMap<>();
        engine().query(Query.all("main")).lines().stream()
                .filter(line -> line.group().size() == 1)
                .forEach(line -> rows.put(
                        line.group().getFirst(), line.values().getFirst().longValueExact()));
        engine().partitions(SimulatedTopic.NAME).forEach((number, position) -> {
            SimulatedPartition partition = begun(position).get(number);
            Map<String, Long> own = new TreeMap<>(rows);
            own.keySet().removeIf(key -> !key.startsWith(number + "-"));
            rows.keySet().removeAll(own.keySet());
            if (position.next() > position.first()) {
                assertThat(position.first()).isLessThanOrEqualTo(partition.start());
            }
            position.gaps()
                    .forEach(gap -> assertThat(accepted).contains(new KafkaIntake.Gap(number, gap.from(), gap.to())));
            boolean isNow = isContent(own, position, partition.now());
            boolean isPast = partition.past().stream().anyMatch(branch -> isContent(own, position, branch));
            if (!isNow && (!isPast || isEnding && isOver && !stopped.contains(number))) {
                throw new AssertionError("Partition " + number + " up to " + position + " has " + own + ", not "
                        + expected(position, partition.now()) + "; stopped: " + stopped + ", notes: " + notes);
            }
        });
        assertThat(rows).as("rows of no partition").isEmpty();
    }

    /// The partitions of the topic that a position is of. It knows that itself, and its records must be as it says.
    private List<SimulatedPartition> begun(Position.Partition position) {
        return topic.named(position.mark().split(" ", -1)[0], position.mark().split(" ", -1)[1]);
    }

    /// Whether rows are those of the records of a history. A record that compaction has taken may be missing.
    private boolean isContent(Map<String, Long> rows, Position.Partition position, Branch branch) {
        if (position.next() > branch.end()) {
            return false;
        }
        Map<String, Entry> winners = winners(position, branch, false);
        if (rows.equals(values(winners))) {
            return true;
        }
        if (!topic.has(Fault.COMPACTED)) {
            return false;
        }
        Map<String, Entry> least = winners(position, branch, true);
        return Stream.concat(rows.keySet().stream(), values(least).keySet().stream())
                .allMatch(key -> isPossible(rows.get(key), key, least.get(key), position, branch));
    }

    private boolean isPossible(
            @Nullable Long value, String key, @Nullable Entry least, Position.Partition position, Branch branch) {
        return value == null
                ? least == null || least.sent().kind() == Kind.EMPTY
                : records(position, branch)
                        .filter(each -> each.sent().key().equals(key))
                        .filter(each -> least == null || order(each) >= order(least))
                        .anyMatch(each ->
                                each.sent().kind() == Kind.TRADE && each.sent().version() == value);
    }

    private static Map<String, Long> values(Map<String, Entry> winners) {
        Map<String, Long> values = new TreeMap<>();
        winners.forEach((key, entry) -> {
            if (entry.sent().kind() == Kind.TRADE) {
                values.put(key, entry.sent().version());
            }
        });
        return values;
    }

    private Map<String, Long> expected(Position.Partition position, Branch branch) {
        return values(winners(position, branch, false));
    }

    private Map<String, Entry> winners(Position.Partition position, Branch branch, boolean areKept) {
        Map<String, Entry> winners = new TreeMap<>();
        records(position, branch)
                .filter(each -> !areKept || branch.kept().contains(each.offset()))
                .forEach(each -> winners.merge(
                        each.sent().key(), each, (one, other) -> order(other) >= order(one) ? other : one));
        return winners;
    }

    private long order(Entry entry) {
        return isTable ? entry.offset() : entry.sent().version();
    }

    /// The records up to a position that the pipeline takes.
    private Stream<Entry> records(Position.Partition position, Branch branch) {
        return committed(position, branch)
                .filter(each -> each.sent().kind() == Kind.TRADE
                        || isTable && each.sent().kind() == Kind.EMPTY);
    }

    private static Stream<Entry> committed(Position.Partition position, Branch branch) {
        return branch.written().subMap(position.first(), position.next()).values().stream()
                .filter(Entry::isCommitted)
                .filter(each -> position.gaps().stream()
                        .noneMatch(gap -> each.offset() >= gap.from() && each.offset() < gap.to()));
    }

    /// Whether the log is another one below an offset than it was once.
    private boolean isCut(int number, long next) {
        return begun(number).past().stream().anyMatch(branch -> branch.cutAt() < next);
    }

    private void requireRefusable(EngineException refusal, Set<Integer> stopped) {
        assertThat(refusal.kind()).isEqualTo(EngineException.Kind.SOURCE_CHANGED);
        boolean isLarger = isTable && refusal.getMessage().contains("is new");
        boolean isAnother = isAnother()
                && (refusal.getMessage().contains("was deleted and recreated")
                        || refusal.getMessage().contains("is of another cluster"));
        assertThat(isLarger || isAnother || stopped.equals(numbers()))
                .as("refused for no reason: %s", refusal.getMessage())
                .isTrue();
        requireReasons(stopped);
    }

    private void requireReasons(Set<Integer> stopped) {
        if (!isAnother()) {
            stopped.forEach(number -> {
                long next = engine().offsets(SimulatedTopic.NAME).get(number);
                assertThat(next < begun(number).start() || isCut(number, next))
                        .as("partition %d stopped for no reason at %d: %s", number, next, notes)
                        .isTrue();
            });
        }
    }

    private void requireEnd(Set<Integer> stopped) {
        assertThat(isAnother()).as("another topic was read").isFalse();
        requireReasons(stopped);
        long letters = 0;
        for (Map.Entry<Integer, Position.Partition> each :
                engine().partitions(SimulatedTopic.NAME).entrySet()) {
            SimulatedPartition partition = begun(each.getKey());
            if (!stopped.contains(each.getKey())) {
                assertThat(each.getValue().next()).isEqualTo(partition.end());
                letters += committed(each.getValue(), partition.now())
                        .filter(entry -> entry.sent().kind() == Kind.POISON
                                || !isTable && entry.sent().kind() == Kind.EMPTY)
                        .count();
            }
        }
        assertThat(engine().offsets(SimulatedTopic.NAME)).hasSameSizeAs(topic.partitions());
        if (stopped.isEmpty() && !topic.has(Fault.COMPACTED)) {
            assertThat(engine().deadLetters().size()).as("dead letters").isEqualTo(letters);
        }
    }

    /// The topic as a source that is read again gives the same totals, or says what is gone.
    private void readAgain(KafkaClients clients, Origin.Kafka origin) {
        boolean isWhole = engine().partitions(SimulatedTopic.NAME).entrySet().stream()
                .allMatch(each -> begun(each.getKey()).start()
                        <= each.getValue().first()
                                + each.getValue().gaps().stream()
                                        .mapToLong(gap -> gap.to() - gap.from())
                                        .sum());
        engine().rereads(TopicAgain.of(clients, origin, engine().directory()));
        isEnding = false;
        pollsLeft = ENDING_POLLS_MAX;
        try {
            var verification = engine().verify(new Truth.Sources());
            if (!topic.has(Fault.COMPACTED) || !topic.has(Fault.POISON)) { // For poison, compaction drops a trade.
                assertThat(verification.differences()).isEmpty();
            }
            assertThat(isWhole).as("offsets are gone").isTrue();
        } catch (EngineException e) {
            assertThat(e.getMessage()).contains("does not have these offsets any more");
            assertThat(isWhole).as(e.getMessage()).isFalse();
        }
    }
}
