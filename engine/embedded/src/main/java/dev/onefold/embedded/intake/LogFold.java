package dev.onefold.embedded.intake;

import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.source.LogBatch;
import java.util.SortedMap;
import java.util.concurrent.locks.ReentrantLock;

/// Folds the records of a log's partitions, each once by its offset. A log can be read again, so it is its
/// own journal: after a crash intake continues at the checkpoint's offsets.
///
/// Lock: its own, so that two readers of one partition take turns; the guard's for each round.
public final class LogFold {
    private final Rounds rounds;
    private final ReentrantLock turn = new ReentrantLock();
    private final LogChunks chunks;

    public LogFold(Rounds rounds) {
        this.rounds = rounds;
        chunks = new LogChunks(
                rounds.settings().shards(),
                round -> rounds.fold(round, () -> Thread.currentThread().isInterrupted()));
    }

    /// Folds the records that are not in the totals yet. Returns the partition's next offset.
    public long fold(LogBatch batch) {
        Horizon.requireNone(rounds.pipeline(), "a record of a log's partition");
        if (Decoder.wantsHeader(rounds.pipeline())) {
            throw new IllegalArgumentException(
                    "The pipeline reads CSV with a header, and a partition of a log has none:"
                            + " name the columns in the pipeline file");
        }
        Submissions.hold(turn, "another batch of a log");
        try {
            Source source = rounds.openSource(batch.source(), Source.Kind.PARTITION);
            if (source.first() < 0) {
                rounds.beginAt(source, batch.from());
            }
            if (batch.from() < source.first()) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        "The first batch of " + batch.source() + " began at offset " + source.first()
                                + ", so nothing below it is in the totals; this one begins at offset " + batch.from()
                                + ". Hand over a partition's batches in their order. If this is another log of the same"
                                + " name, give it a name of its own.");
            }
            long next = source.at();
            if (batch.from() > next) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        "Records are missing from " + batch.source() + ": all below offset " + next
                                + " are folded, these begin at offset " + batch.from() + ". Read from offset " + next
                                + " on. If the log has it no more, the records between are lost.");
            }
            if (batch.next() > next) {
                fold(batch, source, next);
            }
            return source.at();
        } finally {
            turn.unlock();
        }
    }

    /// Notes where the partitions of a log begin, if they have not begun; durable when it returns.
    public void begin(String log, SortedMap<Integer, Long> offsets, String mark) {
        rounds.beginAt(log, offsets, mark);
        rounds.checkpointNow(() -> Thread.currentThread().isInterrupted());
    }

    /// Passes over offsets that the log has lost, as a person has accepted it; durable when it returns.
    public void skip(String log, int partition, long from, long to) {
        Submissions.hold(turn, "a batch of a log");
        try {
            if (!rounds.partitions(log, false).containsKey(partition)) {
                throw new IllegalArgumentException(
                        "There is no partition " + LogBatch.source(log, partition) + " in the results");
            }
            Source source = rounds.openSource(LogBatch.source(log, partition), Source.Kind.PARTITION);
            if (source.at() != from || to <= from) {
                throw new IllegalArgumentException("Offsets " + from + " to " + to + " of " + source.name()
                        + " cannot be passed over: all below " + source.at() + " are folded, and none behind");
            }
            rounds.skip(
                    source, new Position.Gap(from, to, rounds.settings().clock().instant()));
            rounds.checkpointNow(() -> Thread.currentThread().isInterrupted());
        } finally {
            turn.unlock();
        }
    }

    private void fold(LogBatch batch, Source source, long from) {
        chunks.fold(batch, source, from);
        rounds.delays()
                .note(
                        Delays.From.LOGS,
                        batch.records().stream()
                                .filter(entry -> entry.offset() >= from)
                                .mapToLong(LogBatch.Entry::timeMs));
    }
}
