package dev.onefold.embedded.intake;

import dev.onefold.core.pipeline.Limits;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.source.LogBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Cuts the records of a log's partition into chunks, and hands them on by the round. Not thread-safe.
public final class LogChunks {
    private static final int CHUNKS_MAX = 16;

    private final int shards;
    private final Consumer<List<Chunk>> rounds;
    private final List<Chunk> pool = new ArrayList<>();

    /// @param rounds folds the chunks of a round
    public LogChunks(int shards, Consumer<List<Chunk>> rounds) {
        this.shards = shards;
        this.rounds = rounds;
    }

    /// Folds the records of a batch from an offset on; those before came earlier.
    public void fold(LogBatch batch, Source source, long from) {
        List<Chunk> round = new ArrayList<>();
        List<LogBatch.Entry> entries = new ArrayList<>();
        long bytes = 0;
        for (LogBatch.Entry entry : batch.records()) {
            if (entry.offset() < from) {
                continue; // A log delivers again from its last committed offset.
            }
            boolean isTooLarge = entry.bytes().length > Limits.RECORD_BYTES_MAX;
            if (bytes > LineReader.CHUNK_BYTES || isTooLarge && !entries.isEmpty()) {
                add(round, entries, source, entry.offset());
                bytes = 0;
            }
            if (isTooLarge) {
                chunk(round).setOversized(source, entry);
            } else {
                entries.add(entry);
                bytes += entry.bytes().length;
            }
        }
        add(round, entries, source, batch.next());
        round.getLast().markWith(batch.mark());
        rounds.accept(round);
    }

    private void add(List<Chunk> round, List<LogBatch.Entry> entries, Source source, long next) {
        chunk(round).setRecords(entries, source, next);
        entries.clear();
    }

    /// One more chunk of the round; a full round is folded first.
    private Chunk chunk(List<Chunk> round) {
        if (round.size() == CHUNKS_MAX) {
            rounds.accept(round);
            round.clear();
        }
        if (pool.size() == round.size()) {
            pool.add(new Chunk(shards));
        }
        Chunk chunk = pool.get(round.size());
        round.add(chunk);
        return chunk;
    }
}
