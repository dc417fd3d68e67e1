package dev.onefold.embedded;

import dev.onefold.core.Counts;

/// Told how a fold goes on, on the folding thread.
public interface FoldListener {
    /// @param durableBytes of the source that a forced checkpoint covers
    /// @param foldedBytes of the source that are in the totals
    /// @param counts of all records so far
    void folded(long durableBytes, long foldedBytes, Counts counts);

    /// Whether to stop early, at a record's end, with a checkpoint.
    boolean stop();

    /// Lets it run to the end.
    static FoldListener silent() {
        return new FoldListener() {
            @Override
            public void folded(long durableBytes, long foldedBytes, Counts counts) {}

            @Override
            public boolean stop() {
                return false;
            }
        };
    }
}
