package dev.onefold.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rejected records: listed, read, redriven, purged. None is ever in the way of healthy ones.
public interface DeadLetters {
    /// Up to `limit` letters with ids above `after`, in the order of their ids.
    List<DeadLetter> list(long after, int limit);

    /// How many there are.
    long size();

    /// The record of a letter as it arrived.
    ///
    /// @throws IllegalArgumentException if there is no such letter, or its bytes are not kept
    byte[] record(long id);

    /// Sends a letter through again, edited or as it is (`null`), under its own place. Durable when this returns.
    /// Redriving what is gone changes nothing.
    Redriven redrive(long id, byte @Nullable [] edited);

    /// Removes letters for good; durable when this returns. Returns how many there were.
    int purge(List<Long> ids);

    /// What became of a redriven letter.
    enum Redriven {
        ACCEPTED,
        DUPLICATE,
        STALE,
        /// One version with two contents: the loser is among the letters, under the same id if it is the redriven one.
        CONFLICTING,
        /// Rejected again: it stays, under its id, as it was sent now, with its new reason.
        REJECTED,
        /// There is no such letter, perhaps no more.
        GONE
    }
}
