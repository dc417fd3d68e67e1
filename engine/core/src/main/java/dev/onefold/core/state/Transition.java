package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import org.jspecify.annotations.Nullable;

/// The effect of an arriving event on the row of its key: the maximum of (version, contribution) stays, so the
/// order of arrival can never matter.
public sealed interface Transition {
    /// The key was never seen, or this is a higher version: the old contribution leaves and the new one joins, in
    /// one step.
    record Changed(@Nullable Row before, Row after) implements Transition {}

    /// The same version and the same contribution again.
    record Duplicate() implements Transition {}

    /// A higher version is stored.
    record Stale(Version stored) implements Transition {}

    /// One version, two contributions: the greater one stays, and the loser becomes a dead letter, once.
    record Settled(Row winner, Row loser, boolean arrivedStays) implements Transition {}

    /// Decides.
    ///
    /// @param stored the key's row; `null` if the key was never seen
    /// @param removalIsNewer whether a removal at the version of its row is newer than the row, and not in
    ///     conflict with it
    static Transition of(@Nullable Row stored, Row arrived, boolean removalIsNewer) {
        if (stored == null || arrived.version().compareTo(stored.version()) > 0) {
            return new Changed(stored, arrived);
        }
        if (arrived.version().compareTo(stored.version()) < 0) {
            return new Stale(stored.version());
        }
        int order = arrived.payload().compareTo(stored.payload());
        if (order == 0) {
            return new Duplicate();
        }
        if (removalIsNewer && isRemoval(arrived)) {
            return new Changed(stored, arrived);
        }
        if (removalIsNewer && isRemoval(stored)) {
            return new Stale(stored.version());
        }
        return order > 0 ? new Settled(arrived, stored, true) : new Settled(stored, arrived, false);
    }

    private static boolean isRemoval(Row row) {
        return row.payload().kind() == Event.Kind.DELETE;
    }
}
