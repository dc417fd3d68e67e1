package dev.onefold.core.pipeline;

/// What is made of events.
public sealed interface Fold permits Rollups, Processing, Batching {
    /// The same without formulas, which change nothing that is stored.
    Fold stored();
}
