package dev.onefold.core.reduce;

import dev.onefold.core.map.ViewDeltas;
import java.util.Set;

/// A delta that is not in the totals yet.
///
/// @param after deltas that must be in the totals before this one or together with it, because this one retracts what
///     they add
public record PendingDelta(DeltaId id, Set<DeltaId> after, ViewDeltas deltas) {
    public PendingDelta {
        after = Set.copyOf(after);
    }
}
