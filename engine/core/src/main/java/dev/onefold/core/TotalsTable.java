package dev.onefold.core;

import dev.onefold.core.query.Answer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A copy of a pipeline's totals elsewhere, which other programs read. Its totals and its progress are written in
/// one transaction. The progress is read from the copy, because the copy may be restored from a backup.
public interface TotalsTable {
    /// Begins a transaction. Until it is closed nobody else writes to the copy.
    ///
    /// @throws Unavailable if the copy cannot be reached now
    Session begin();

    /// The progress of a copy.
    ///
    /// @param cut number of the last cut that was written
    /// @param writer a random name that the writer has given itself
    /// @param at time of the cut
    record Mark(long cut, String writer, Instant at) {}

    /// One transaction. Used by one thread.
    interface Session extends AutoCloseable {
        /// The progress of the copy; empty if nothing was ever written to it.
        Optional<Mark> mark();

        /// Whether the copy has the shape that the pipeline's totals have. Otherwise all groups are written,
        /// into a new copy.
        boolean isWhole();

        /// Announces the mark of this transaction. Called once, before anything is put or removed.
        void begin(Mark next);

        /// All of a roll-up is put from now on: groups that are not put are removed.
        void replace(int rollup);

        /// Writes a group.
        void put(int rollup, Answer.Line line);

        /// Removes a group, if it is there.
        void remove(int rollup, List<String> group);

        /// Commits all that was put and removed, with the mark.
        ///
        /// @throws Unavailable if that failed, or if its result is unknown
        void commit();

        /// Rolls back all changes that were not committed.
        @Override
        void close();
    }

    /// The copy cannot be read or written now. The message says why.
    final class Unavailable extends RuntimeException {
        private static final long serialVersionUID = 1;

        public Unavailable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
