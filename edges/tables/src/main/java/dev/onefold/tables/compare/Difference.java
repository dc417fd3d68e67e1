package dev.onefold.tables.compare;

import dev.onefold.core.state.Row;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A key whose row differs between the engine and the source.
///
/// @param ours the engine's row; `null` if the key was never seen
/// @param theirs the source's row; `null` if there is none
/// @param outcome the fate of the difference
public record Difference(
        Kind kind,
        List<String> key,
        @Nullable Row ours,
        @Nullable SourceRow theirs,
        Outcome outcome) {
    public Difference {
        key = List.copyOf(key);
    }

    /// The kind of a difference.
    public enum Kind {
        /// The source has the row, and the engine has not.
        MISSING,
        /// Both have it, with other contents.
        DIFFERENT,
        /// The engine has the row, and the source has not.
        GHOST,
        /// The source has another content, and its own version is not above the engine's.
        VERSION_BROKEN,
        /// The pipeline refuses the row of the source.
        REFUSED
    }

    /// The outcome of a difference.
    public enum Outcome {
        /// It is reported.
        REPORTED,
        /// A dead letter of the key waits: its redrive may end the difference.
        EXPLAINED,
        /// The engine has now what the source has.
        REPAIRED,
        /// A change of the row came meanwhile, which is newer than the repair.
        OVERTAKEN,
        /// No record can repair it.
        NOT_REPAIRABLE,
        /// The source lacks too many rows, so it may be the wrong source.
        HELD_BACK
    }

    /// Whether the difference is still there, as far as is known.
    public boolean isOpen() {
        return outcome == Outcome.REPORTED || outcome == Outcome.NOT_REPAIRABLE || outcome == Outcome.HELD_BACK;
    }

    /// Whether the row is in the engine, and the source has none.
    boolean isLacking() {
        return kind == Kind.GHOST && theirs == null;
    }

    Difference with(Outcome other) {
        return new Difference(kind, key, ours, theirs, other);
    }
}
