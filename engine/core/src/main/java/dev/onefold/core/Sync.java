package dev.onefold.core;

import dev.onefold.core.Engine.Appended;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The seedings, repairs and comparisons of an engine: they bring rows of a table to it, or compare its rows
/// with the table, while live records come in. Each has a number of its own, above that of every one
/// whose rows are older, so that of two of them the newer rows win. Any thread may call.
public interface Sync {
    /// Begins a seeding. If the latest seeding of the same source was interrupted, the new one goes on at its
    /// marks; it has a number of its own, so that a row that both read is not a conflict.
    ///
    /// @param source the identity of the rows; marks of one source mean nothing to another
    /// @param asOf when the rows were the table's, for rows that were kept; they are below those of each
    ///     repair and seeding since. Empty, or later than now: they are read now
    /// @param restart whether to read all rows in any case
    Run seed(String source, Optional<Instant> asOf, boolean restart);

    /// Begins a repair.
    ///
    /// @throws EngineException of kind IN_USE if another one runs: one repairs at a time
    Run repair();

    /// Begins a comparison that changes nothing. Its number is above all others.
    Run compare();

    /// Whether a seeding with a lower number runs: a row that it has read and not brought yet looks like a
    /// difference.
    boolean isRunning(long below);

    /// The ARN of the change stream that the engine reads; empty if it reads none, or has read nothing yet.
    default Optional<String> stream() {
        return Optional.empty();
    }

    /// The price of the engine's side; empty if nobody pays for it by units.
    default Optional<Cost> cost() {
        return Optional.empty();
    }

    /// The units of an engine whose rows are in a table of a service.
    ///
    /// @param listing read units of one listing of all rows
    /// @param readsASecond read units a second that a listing spends at most
    record Cost(long listing, long readsASecond) {}

    /// A seeding, a repair or a comparison under way. One thread uses it.
    interface Run extends AutoCloseable {
        /// The number, which orders its rows among those of others.
        long number();

        /// The number of the interrupted seeding that this one continues; 0 if it begins at the beginning.
        default long continued() {
            return 0;
        }

        /// The mark at which each part of the source begins.
        default Map<String, String> marks() {
            return Map.of();
        }

        /// Brings the changes to the rows that have reached the engine, where it may take them too late.
        ///
        /// @param stream ARN of the change stream of the source, for an engine that has read none; `null` if
        ///     there is none
        /// @param isStopped whether to wait no more
        /// @param notes gets a note of what is waited for
        /// @throws InterruptedException if it was stopped
        default void catchUp(@Nullable String stream, BooleanSupplier isStopped, Consumer<String> notes)
                throws InterruptedException {}

        /// Takes rows that are records of the pipeline, with a version or an id of their own: whole lines.
        /// They are durable when it returns.
        ///
        /// @param length number of bytes of the lines, from the beginning of the array
        Appended append(byte[] lines, int length);

        /// Takes lines of [dev.onefold.core.form.RowLine]; otherwise as [#append].
        Appended appendRows(byte[] lines, int length);

        /// Notes the progress of each part: all rows in front of these marks are durable in the engine.
        void save(Map<String, String> marks);

        /// Notes that it has come to its end.
        ///
        /// @throws EngineException if what was compared is not what there is
        void finish();

        /// Ends it; one that is not finished was interrupted. May be called twice.
        @Override
        void close();
    }
}
