package dev.onefold.kafka;

import dev.onefold.core.pipeline.Origin;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.source.LogSource.Range;
import dev.onefold.kafka.format.Awaited;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.jspecify.annotations.Nullable;

/// A second consumer of a topic, which reads again what the first one has folded. It knows the topic by the marks
/// of the first one, and asks as often: behind each poll, before anything of it is handed on.
///
/// A cluster that gives no answer is waited for, not longer than a minute.
public final class TopicAgain implements LogSource.Again {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(2);
    private static final Duration WAIT_MAX = Duration.ofMinutes(1);

    private final Origin.Kafka origin;
    private final BooleanSupplier ends;
    private final Admin admin;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicLook look;
    private final RecordText text;
    private final SortedMap<Integer, Range> open = new TreeMap<>(); // What is left to read.
    private final Deque<LogBatch> ready = new ArrayDeque<>();
    private boolean isKnown; // The last records were compared.
    private boolean isAssigned;
    private long polledBytes; // Of one poll, decoded.

    private TopicAgain(KafkaClients clients, Origin.Kafka origin, RecordText text, BooleanSupplier ends) {
        this.origin = origin;
        this.ends = ends;
        this.text = text;
        admin = clients.admin();
        consumer = clients.consumer();
        look = new TopicLook(admin, origin.topic(), ANSWER_MAX, ends);
    }

    /// The topic of a pipeline as a log that can be read again.
    ///
    /// @param data the data directory, which has copies of the schemas
    public static LogSource of(KafkaClients clients, Origin.Kafka origin, Path data) {
        return new LogSource(origin.log(), (definition, ends) -> {
            RecordText text = new RecordText(definition, clients.decoding(data, false));
            return new TopicAgain(clients, origin, text, ends);
        });
    }

    @Override
    public void begin(SortedMap<Integer, Range> ranges) throws IOException {
        open.clear();
        ready.clear();
        open.putAll(ranges);
        isAssigned = false;
        go(() -> isAssigned);
    }

    @Override
    public @Nullable LogBatch next() throws IOException {
        go(() -> !ready.isEmpty() || open.isEmpty());
        return ready.poll();
    }

    /// Goes on until something is reached. What was polled last may be lost to a failure: it is read again.
    private void go(BooleanSupplier isReached) throws IOException {
        long until = System.nanoTime() + WAIT_MAX.toNanos();
        String why = "no records came";
        while (!isReached.getAsBoolean()) {
            if (ends.getAsBoolean() || System.nanoTime() > until) {
                throw new IOException("the cluster at " + origin.servers() + " gives no answer: " + why);
            }
            try {
                if (isAssigned) {
                    poll();
                } else {
                    assign();
                }
            } catch (KafkaException | Awaited e) {
                isAssigned = false;
                why = String.valueOf(e.getMessage());
                LockSupport.parkNanos(POLL.toNanos());
            }
        }
    }

    /// Puts the consumer at what is left to read, once it is known that this is the topic and has it all.
    private void assign() throws IOException {
        requireSame(look.ask().await());
        Map<Integer, TopicLook.Span> spans = look.spans(open.keySet());
        List<String> gone = new ArrayList<>();
        open.forEach((number, range) -> {
            TopicLook.Span span = TopicLook.of(number, spans);
            long begin = Math.min(span.begin(), range.to());
            long end = Math.max(span.end(), range.from());
            String of = " of " + LogBatch.source(origin.log(), number);
            if (begin > range.from()) {
                gone.add(range.from() + " to " + (begin - 1) + of);
            } else if (end < range.to()) {
                gone.add(end + " to " + (range.to() - 1) + of);
            }
        });
        if (!gone.isEmpty()) {
            throw new IOException(
                    "topic " + origin.topic() + " does not have these offsets any more: " + String.join(", ", gone));
        }
        requireLast();
        consumer.assign(open.keySet().stream().map(this::partition).toList());
        consumer.resume(consumer.paused()); // Those that an earlier pass has read to its end.
        open.forEach((number, range) -> consumer.seek(partition(number), range.from()));
        isAssigned = true;
    }

    private void requireSame(TopicLook.Found found) throws IOException {
        for (Range range : open.values()) {
            TopicMark mark = TopicMark.read(range.mark()).orElse(TopicMark.fresh(found));
            if (!mark.cluster().equals(found.cluster()) || !mark.topic().equals(found.id())) {
                throw new IOException("topic " + origin.topic() + " at " + origin.servers() + " has id " + found.id()
                        + " in cluster " + found.cluster() + ", and the records that were folded are of " + mark.topic()
                        + " in cluster " + mark.cluster());
            }
        }
    }

    private void requireLast() throws IOException {
        if (isKnown) {
            return;
        }
        Map<Integer, TopicMark> marks = new HashMap<>();
        open.forEach((number, range) -> TopicMark.read(range.mark())
                .filter(mark -> mark.last().isPresent())
                .ifPresent(mark -> marks.put(number, mark)));
        LastRecords.Compared compared = new LastRecords(origin.topic(), consumer, look).with(marks);
        if (!compared.differing().isEmpty()) {
            throw other(String.join(", ", compared.differing().values()));
        }
        isKnown = compared.silent().isEmpty();
        if (!isKnown) {
            throw new LeaderNotAvailableException("partitions " + compared.silent() + " have no leader that answers");
        }
    }

    private IOException other(String places) {
        return new IOException(
                "topic " + origin.topic() + " has another record than the one that was folded at " + places);
    }

    private TopicPartition partition(int number) {
        return new TopicPartition(origin.topic(), number);
    }

    private void poll() throws IOException, Awaited {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        if (records.nextOffsets().isEmpty()) {
            return;
        }
        requireSame(look.ask().await());
        polledBytes = 0;
        for (Map.Entry<TopicPartition, OffsetAndMetadata> next :
                records.nextOffsets().entrySet()) {
            add(next.getKey(), next.getValue().offset(), records.records(next.getKey()));
        }
    }

    private void add(TopicPartition partition, long next, List<ConsumerRecord<byte[], byte[]>> records)
            throws Awaited, IOException {
        Range range = open.get(partition.partition());
        if (range == null || next <= range.from()) {
            return;
        }
        long to = Math.min(next, range.to());
        TopicMark.Last last =
                TopicMark.read(range.mark()).flatMap(TopicMark::last).orElse(null);
        List<LogBatch.Entry> entries = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() >= to) {
                break;
            }
            if (polledBytes > KafkaIntake.POLL_BYTES_MAX) {
                to = record.offset();
                consumer.seek(partition, to);
                break;
            }
            if (last != null
                    && record.offset() == last.offset()
                    && !TopicMark.hash(record).equals(last.hash())) {
                throw other("offset " + record.offset() + " of " + partition); // Replaced during this reading.
            }
            entries.add(new LogBatch.Entry(record.offset(), text.of(text.decoded(record)), record.timestamp()));
            polledBytes += entries.getLast().bytes().length;
        }
        if (to == range.from()) {
            return;
        }
        ready.add(new LogBatch(origin.log(), partition.partition(), range.from(), to, entries));
        if (to < range.to()) {
            open.put(partition.partition(), new Range(to, range.to(), range.mark()));
        } else {
            open.remove(partition.partition());
            consumer.pause(List.of(partition));
        }
    }

    @Override
    public void close() {
        try {
            consumer.close(CloseOptions.timeout(CLOSE_MAX));
        } finally {
            admin.close(CLOSE_MAX);
        }
    }
}
