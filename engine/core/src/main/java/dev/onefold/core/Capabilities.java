package dev.onefold.core;

import java.util.Map;
import java.util.Optional;

/// The capabilities of a runtime.
///
/// @param missing the capabilities that it lacks, each with the reason, a sentence
public record Capabilities(Map<Capability, String> missing) {
    public Capabilities {
        missing = Map.copyOf(missing);
    }

    /// Whether the runtime can do this.
    public boolean has(Capability capability) {
        return !missing.containsKey(capability);
    }

    /// Why the runtime cannot do this; empty if it can.
    public Optional<String> reason(Capability capability) {
        return Optional.ofNullable(missing.get(capability));
    }

    /// @throws IllegalArgumentException with the reason if the runtime cannot do this
    public void require(Capability capability) {
        reason(capability).ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
    }

    /// A capability that only some runtimes have. All other methods of [Engine] work everywhere.
    public enum Capability {
        /// Takes records from its caller: [Engine#append(String, java.util.List)].
        APPEND,
        /// Takes a checkpoint on request: [Engine#checkpointNow].
        CHECKPOINT,
        /// Reports its status: [Engine#status].
        STATUS,
        /// Recomputes a sample of the leaf groups: [Truth.Rows].
        SAMPLE,
        /// Recomputes from the sources, read again: [Truth.Sources].
        SOURCES,
        /// Reports the cost of another definition: [Engine#change].
        DEFINITION_CHANGE,
        /// Lists its rows, to be compared with the table that they come from: [Engine#rangeSums].
        COMPARISON,
        /// Takes rows of seedings and repairs: [Engine#sync].
        SYNC,
        /// Keeps or releases its journal: [Engine#journal].
        JOURNAL
    }
}
