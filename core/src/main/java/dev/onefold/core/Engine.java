package dev.onefold.core;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// What a runtime makes of a pipeline: totals that are right, and the everyday verbs on them. All methods may be
/// called from any thread, while intake goes on.
public interface Engine extends AutoCloseable {
    /// The pipeline whose totals are served.
    Pipeline pipeline();

    /// Answers from one cut.
    ///
    /// @throws IllegalArgumentException if the query asks for what the pipeline does not have
    Answer query(Query query);

    /// Answers from one cut, for a reader that takes the lines one by one: they are valid until it returns, and it may
    /// take its time. Of a large answer no more than a few lines are on the heap at a time.
    ///
    /// @throws IllegalArgumentException if the query asks for what the pipeline does not have
    default <T> T query(Query query, Function<Answer, T> reader) {
        return reader.apply(query(query));
    }

    /// The row of a key, given by its parts.
    ///
    /// @throws IllegalArgumentException if the pipeline's keys have another number of parts, or it has none
    Optional<Row> get(List<String> key);

    /// Recomputes the totals from the truth and compares.
    Verification verify();

    /// Replaces the totals by recomputed ones; what it returns was different, and is right now.
    Verification rebuild();

    /// The rejected records.
    DeadLetters deadLetters();

    /// What became of the records so far.
    Counts counts();

    /// Forces everything that was folded to disk, and releases all resources. May be called twice.
    @Override
    void close();
}
