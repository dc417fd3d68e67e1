package dev.onefold.core;

/// Whether an engine keeps its journal for ever. Any thread may call.
public interface KeptJournal {
    /// Whether all entries are kept, from the first on, so that totals can be recomputed from them.
    boolean isKept();

    /// Keeps the journal no longer: the entries that a checkpoint covers are deleted, now and from now on. This
    /// cannot be taken back.
    void release();
}
