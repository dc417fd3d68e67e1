package dev.onefold.embedded.intake;

import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.source.LineReader;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/// Folds what a log has in its partitions, each record once by its offset. A log can be read again, so it is its own
/// journal: after a crash the checkpoint's offsets say where to go on.
///
/// Lock: its own, so that two readers of one partition take turns; the guard's for each round.
public final class LogFold {
    private static final int CHUNKS_MAX = 16;

    private final Rounds rounds;
    private final ReentrantLock turn = new ReentrantLock();
    private final List<Chunk> pool = new ArrayList<>();

    public LogFold(Rounds rounds) {
        this.rounds = rounds;
    }

    /// Folds the records that are not in the totals yet. Returns the partition's next offset.
    public long fold(LogBatch batch) {
        if (Decoder.wantsHeader(rounds.pipeline())) {
            throw new IllegalArgumentException(
                    "The pipeline reads CSV with a header, and a partition of a log has none:"
                            + " name the columns in the pipeline file");
        }
        Submissions.hold(turn, "another batch of a log");
        try {
            Source source = rounds.openSource(batch.source(), Source.Kind.PARTITION);
            long next = source.at();
            if (next > 0 && batch.from() > next) {
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

    private void fold(LogBatch batch, Source source, long from) {
        List<Chunk> round = new ArrayList<>();
        List<LogBatch.Entry> entries = new ArrayList<>();
        long bytes = 0;
        for (LogBatch.Entry entry : batch.records()) {
            if (entry.offset() < from) {
                continue; // It came before: a log delivers again from where it was last told to be.
            }
            if (bytes > LineReader.CHUNK_BYTES) {
                add(round, entries, source, entry.offset());
                bytes = 0;
            }
            entries.add(entry);
            bytes += entry.bytes().length;
        }
        add(round, entries, source, batch.next());
        rounds.fold(round, () -> Thread.currentThread().isInterrupted());
    }

    private void add(List<Chunk> round, List<LogBatch.Entry> entries, Source source, long next) {
        if (round.size() == CHUNKS_MAX) {
            rounds.fold(round, () -> Thread.currentThread().isInterrupted());
            round.clear();
        }
        if (pool.size() == round.size()) {
            pool.add(new Chunk(rounds.settings().shards()));
        }
        Chunk chunk = pool.get(round.size());
        chunk.setRecords(entries, source, next);
        round.add(chunk);
        entries.clear();
    }
}
