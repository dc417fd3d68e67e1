package dev.onefold.embedded.commit;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.source.QueueBatch;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// A caller's request to commit something, and its outcome. [Commits] writes the outcome while it holds the engine's
/// lock; the caller reads it when the request [#isDone()].
public final class Request {
    /// A first line without a number: the commit numbers the lines behind those of the source at that time.
    public static final long NEXT = 0;

    final Asked asked;

    private boolean done;

    private @Nullable EngineException refused;

    private Outcome outcome = Outcome.NONE;

    /// The change that a caller asks for.
    sealed interface Asked {
        /// Whole lines of a source, or messages of a queue.
        ///
        /// @param length bytes of the records, which begin at 0
        /// @param count number of the records
        record Lines(
                String source, long firstRecord, Framing framing, RecordKind kind, byte[] bytes, int length, long count)
                implements Asked {
            static Lines of(String source, long firstRecord, Framing framing, byte[] bytes, int length) {
                long count = framing.count(bytes, 0, length);
                return new Lines(source, firstRecord, framing, RecordKind.SENT, bytes, length, count);
            }

            Lines ofRows() {
                return new Lines(source, firstRecord, framing, RecordKind.ROW, bytes, length, count);
            }
        }

        /// One line over the limit: its number, length and hash.
        record Oversized(String source, long record, long bytes, byte[] sha256) implements Asked {}

        /// A dead letter that is sent through again.
        record Redrive(Entry.Redrive entry) implements Asked {}

        /// Dead letters that are removed for good.
        record Purge(List<Long> ids) implements Asked {
            public Purge {
                ids = List.copyOf(ids);
            }
        }
    }

    /// The result of a commit. A request without records or letters leaves its parts as in [#NONE].
    ///
    /// @param acknowledged lines of its source that are acknowledged
    /// @param letterFirst id of the first letter that it made or caused
    /// @param letterNext the id behind the last of these
    /// @param removed number of letters that it removed
    record Outcome(
            long acknowledged, Counts counts, long letterFirst, long letterNext, Redriven redriven, int removed) {
        static final Outcome NONE = acknowledged(0);

        static Outcome acknowledged(long lines) {
            return new Outcome(lines, new Counts(0, 0, 0, 0, 0), 0, 0, Redriven.GONE, 0);
        }

        static Outcome redriven(Redriven redriven) {
            return new Outcome(0, NONE.counts, 0, 0, redriven, 0);
        }

        static Outcome removed(int letters) {
            return new Outcome(0, NONE.counts, 0, 0, Redriven.GONE, letters);
        }
    }

    private Request(Asked asked) {
        this.asked = asked;
    }

    public static Request lines(String source, long firstRecord, byte[] bytes, int length) {
        return new Request(Asked.Lines.of(source, firstRecord, Framing.LINES, bytes, length));
    }

    /// The same request for lines that a seeding or a repair brings.
    public Request ofRows() {
        return asked instanceof Asked.Lines lines ? new Request(lines.ofRows()) : this;
    }

    /// Messages of a queue.
    public static Request messages(QueueBatch batch) {
        byte[] framed = Framing.encode(batch);
        return new Request(Asked.Lines.of(batch.queue(), NEXT, Framing.MESSAGES, framed, framed.length));
    }

    public static Request oversized(String source, long record, long bytes, byte[] sha256) {
        return new Request(new Asked.Oversized(source, record, bytes, sha256));
    }

    public static Request redrive(Entry.Redrive entry) {
        return new Request(new Asked.Redrive(entry));
    }

    public static Request purge(List<Long> ids) {
        return new Request(new Asked.Purge(ids));
    }

    /// Requires that the records of the request have the identity that the pipeline needs.
    ///
    /// @throws IllegalArgumentException with the missing part
    public void requireIdentity(Pipeline pipeline) {
        switch (asked) {
            case Asked.Lines lines
            when !lines.framing.isOfLines() ->
                QueueBatch.problem(pipeline).ifPresent(problem -> {
                    throw new IllegalArgumentException(problem);
                });
            case Asked.Lines lines -> requireNoMessages(pipeline, lines.source);
            case Asked.Oversized line -> requireNoMessages(pipeline, line.source);
            case Asked.Redrive _, Asked.Purge _ -> {}
        }
    }

    private static void requireNoMessages(Pipeline pipeline, String source) {
        Identity.ByMessage.requireNone(pipeline, "a line of source " + source);
    }

    void end(Outcome reached) {
        outcome = reached;
        done = true;
    }

    void refuse(EngineException why) {
        refused = why;
        done = true;
    }

    /// Number of its records; 0 if it is about letters.
    public long lines() {
        return switch (asked) {
            case Asked.Lines lines -> lines.count;
            case Asked.Oversized _ -> 1;
            case Asked.Redrive _, Asked.Purge _ -> 0;
        };
    }

    /// Whether it is committed or refused.
    public boolean isDone() {
        return done;
    }

    /// The reason why nothing of it is done; `null` if it is not refused.
    public @Nullable EngineException refused() {
        return refused;
    }

    /// Lines of its source that are acknowledged.
    public long acknowledged() {
        return outcome.acknowledged;
    }

    /// The fates of its records.
    public Counts counts() {
        return outcome.counts;
    }

    /// The fate of its redriven record.
    public Redriven redriven() {
        return outcome.redriven;
    }

    /// Number of letters that it removed.
    public int removed() {
        return outcome.removed;
    }

    /// Ids of the letters that it made or caused, ascending.
    public List<Long> letters() {
        return LongStream.range(outcome.letterFirst, outcome.letterNext).boxed().toList();
    }
}
