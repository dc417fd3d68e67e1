package dev.onefold.core;

import java.util.Map;
import java.util.Optional;

/// What a runtime can do.
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
}
