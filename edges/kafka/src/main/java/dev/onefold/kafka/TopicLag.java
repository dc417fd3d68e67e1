package dev.onefold.kafka;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogNote;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.apache.kafka.clients.admin.ProducerState;

/// Asks from time to time how far a topic reaches, and notes the answers at the engine. The end is that of all
/// records, so the lag is there, too, while an open transaction holds the reader up. A partition without an answer
/// waits for its leader. Thread-safe: answers come in a thread of the client.
final class TopicLag {
    private static final Duration ASK_EVERY = Duration.ofSeconds(5);
    private static final Duration RETENTION_EVERY = Duration.ofMinutes(1);

    private static final String SILENT =
            "for its leader, which does not answer. Bring the broker of the partition back";
    private static final Read NOTHING = new Read(0, -1);

    private final EmbeddedEngine engine;
    private final String log;
    private final IntFunction<String> waits;
    private final Map<Integer, Read> places = new HashMap<>();
    private final Set<Integer> unanswered = new TreeSet<>();
    private long askedNanos;
    private long retentionNanos;
    private long retentionMs = -1;

    /// How far a partition is read.
    ///
    /// @param sinceMs a time that no unread record came before, in milliseconds since 1970; -1 if none is known
    private record Read(long next, long sinceMs) {}

    /// @param waits what a partition waits for, of its number; empty if for nothing that the reader knows
    TopicLag(EmbeddedEngine engine, String log, IntFunction<String> waits) {
        this.engine = engine;
        this.log = log;
        this.waits = waits;
    }

    /// Asks at the next call of [#ask].
    void askSoon() {
        askedNanos = 0;
    }

    /// Remembers that a partition is read from here on.
    synchronized void at(int partition, long next) {
        places.put(partition, new Read(next, places.getOrDefault(partition, NOTHING).sinceMs));
    }

    /// Remembers that these records are read.
    synchronized void read(LogBatch batch) {
        Read before = places.getOrDefault(batch.partition(), NOTHING);
        long timeMs = batch.records().isEmpty() ? -1 : batch.records().getLast().timeMs();
        places.put(batch.partition(), new Read(batch.next(), Math.max(timeMs, before.sinceMs)));
    }

    /// Asks about the partitions that are read, unless that was done a moment ago.
    void ask(TopicLook look, List<Integer> partitions) {
        long now = System.nanoTime();
        if (askedNanos != 0 && now - askedNanos < ASK_EVERY.toNanos()) {
            return;
        }
        askedNanos = now;
        if (retentionNanos == 0 || now - retentionNanos > RETENTION_EVERY.toNanos()) {
            retentionNanos = now;
            look.askRetention(this::keeps);
        }
        synchronized (this) {
            silent(unanswered);
            unanswered.addAll(partitions);
        }
        long askedMs = System.currentTimeMillis();
        look.askEnds(partitions, (partition, ends) -> answered(look, partition, ends, askedMs));
    }

    private synchronized void keeps(long ms) {
        retentionMs = ms;
    }

    private synchronized void answered(TopicLook look, int partition, TopicLook.Ends ends, long askedMs) {
        if (!unanswered.remove(partition)) {
            return;
        }
        Read read = places.getOrDefault(partition, NOTHING);
        if (read.next >= ends.end()) { // All that came until the question is read.
            read = new Read(read.next, Math.max(read.sinceMs, askedMs));
            places.put(partition, read);
        }
        LogNote note = new LogNote(ends.end(), read.sinceMs, retentionMs, waits.apply(partition), "");
        boolean isHeld = note.waits().isEmpty() && ends.stable() < ends.end() && read.next >= ends.stable();
        engine.note(log, partition, isHeld ? held(note, ends.stable(), "") : note);
        if (isHeld) {
            unanswered.add(partition);
            look.askProducers(partition, producers -> open(partition, note, ends.stable(), producers));
        }
    }

    private synchronized void open(int partition, LogNote note, long stable, Collection<ProducerState> producers) {
        if (unanswered.remove(partition)) {
            String who = producers.stream()
                    .filter(each -> each.currentTransactionStartOffset().orElse(-1) == stable)
                    .findFirst()
                    .map(each -> " of producer " + each.producerId() + ", which wrote last at "
                            + Instant.ofEpochMilli(each.lastTimestamp()))
                    .orElse("");
            engine.note(log, partition, held(note, stable, who));
        }
    }

    private static LogNote held(LogNote note, long from, String who) {
        String text = "for the end of the transaction that is open from offset " + from + " on" + who
                + ". One that nobody ends can be aborted: kafka-transactions.sh";
        return new LogNote(note.end(), note.sinceMs(), note.retentionMs(), text, "");
    }

    /// Notes that these partitions give no answer.
    synchronized void silent(Set<Integer> partitions) {
        partitions.forEach(number -> engine.note(
                log, number, new LogNote(-1, places.getOrDefault(number, NOTHING).sinceMs, retentionMs, SILENT, "")));
        unanswered.addAll(partitions);
    }

    /// Whether a partition has given an answer since it was asked last.
    synchronized boolean hasAnswered(int partition) {
        return !unanswered.contains(partition);
    }

    /// Notes that nothing is known of these partitions now.
    synchronized void forget(Collection<Integer> partitions) {
        partitions.forEach(number -> engine.note(log, number, LogNote.NONE));
        unanswered.removeAll(List.copyOf(partitions));
    }

    /// Notes that a partition is not read any more.
    synchronized void stopped(int partition, long end, String why) {
        unanswered.remove(partition);
        engine.note(log, partition, LogNote.stopped(end, why));
    }
}
