package dev.onefold.core.pipeline;

/// The fold of a pipeline's events: into roll-ups, by a function per key, or into batches.
public sealed interface Fold permits Rollups, Processing, Batching {
    /// The same without formulas, which change nothing that is stored.
    Fold stored();

    /// The same as editions before the third read it: see [Condition#inTexts].
    default Fold inTexts() {
        return this;
    }
}
