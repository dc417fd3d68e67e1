package dev.onefold.core;

/// What only some runtimes can do; all others of [Engine]'s methods work everywhere.
public enum Capability {
    /// Takes records from its caller: [Engine#append(String, java.util.List)].
    APPEND,
    /// Takes a checkpoint on request: [Engine#checkpointNow].
    CHECKPOINT,
    /// Says how it is: [Engine#status].
    STATUS,
    /// Recomputes one leaf group in so many: [Truth.Rows].
    SAMPLE,
    /// Recomputes from the sources, read again: [Truth.Sources].
    SOURCES,
    /// Says what another definition costs: [Engine#change].
    DEFINITION_CHANGE,
    /// Keeps or releases its journal: [Engine#journal].
    JOURNAL
}
