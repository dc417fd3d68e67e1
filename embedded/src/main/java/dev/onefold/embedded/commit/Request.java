package dev.onefold.embedded.commit;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.source.Framing;
import dev.onefold.embedded.source.QueueBatch;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// Something to be committed, and what came of it.
public final class Request {
    /// Instead of a number: the lines are numbered where they are committed, behind those that are there by then.
    public static final long NEXT = 0;

    final @Nullable String source;
    final long firstRecord;
    final Framing framing;
    final byte[] bytes;
    final int length;
    private final long lines;
    RecordKind kind = RecordKind.SENT;

    @Nullable
    Entry ready;

    List<Long> purged = List.of();
    boolean done;

    @Nullable
    EngineException refused;

    long acknowledged;
    Counts counts = new Counts(0, 0, 0, 0, 0);
    long letterFirst;
    long letterNext;
    Redriven redriven = Redriven.GONE;
    int removed;

    /// @param length of the records in the bytes; below 0 if the bytes are the hash of one line
    private Request(@Nullable String source, long firstRecord, Framing framing, byte[] bytes, int length) {
        this.source = source;
        this.firstRecord = firstRecord;
        this.framing = framing;
        this.bytes = bytes;
        this.length = length;
        lines = length < 0 ? 1 : framing.count(bytes, 0, length);
    }

    private static Request ofLetters() {
        return new Request(null, 0, Framing.LINES, new byte[0], 0);
    }

    public static Request lines(String source, long firstRecord, byte[] bytes, int length) {
        return new Request(source, firstRecord, Framing.LINES, bytes, length);
    }

    /// The same request, whose lines a seeding or a repair brings.
    public Request ofRows() {
        kind = RecordKind.ROW;
        return this;
    }

    /// Messages of a queue.
    public static Request messages(QueueBatch batch) {
        byte[] framed = Framing.encode(batch);
        return new Request(batch.queue(), NEXT, Framing.MESSAGES, framed, framed.length);
    }

    public static Request oversized(String source, long firstRecord, long bytes, byte[] sha256) {
        Request request = new Request(source, firstRecord, Framing.LINES, sha256, -1);
        request.ready = new Entry.Oversized(source, 0, 0, bytes, 0, sha256);
        return request;
    }

    public static Request of(Entry entry) {
        Request request = ofLetters();
        request.ready = entry;
        return request;
    }

    public static Request purge(List<Long> ids) {
        Request request = ofLetters();
        request.purged = ids;
        return request;
    }

    /// Requires that the records of the request have what the pipeline knows them by.
    ///
    /// @throws IllegalArgumentException saying what is missing
    public void requireIdentity(Pipeline pipeline) {
        if (source == null) {
            return;
        }
        if (framing != Framing.MESSAGES) {
            Identity.ByMessage.requireNone(pipeline, "a line of source " + source);
            return;
        }
        QueueBatch.problem(pipeline).ifPresent(problem -> {
            throw new IllegalArgumentException(problem);
        });
    }

    /// Whether it is committed or refused.
    public boolean isDone() {
        return done;
    }

    /// Why nothing of it is done; `null` if it is not refused.
    public @Nullable EngineException refused() {
        return refused;
    }

    /// Lines of its source that are acknowledged.
    public long acknowledged() {
        return acknowledged;
    }

    /// What became of its records.
    public Counts counts() {
        return counts;
    }

    /// What became of its redriven record.
    public Redriven redriven() {
        return redriven;
    }

    /// How many letters it has removed.
    public int removed() {
        return removed;
    }

    /// Ids of the letters that it made or caused, ascending.
    public List<Long> letters() {
        return LongStream.range(letterFirst, letterNext).boxed().toList();
    }

    /// Its lines.
    public long lines() {
        return lines;
    }
}
