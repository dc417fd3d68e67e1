package dev.onefold.embedded.source;

import dev.onefold.core.Counts;
import java.nio.file.Path;

/// Receives the progress of a fold, and decides whether to stop it. Called on the folding thread.
public interface FoldListener {
    /// Whether to stop early, at a record's end, with a checkpoint.
    boolean stop();

    /// Whether to wait no longer for space on the disk, or for a receiver of batches.
    default boolean givesUp() {
        return stop();
    }

    /// @param durableBytes bytes of the source that a forced checkpoint covers
    /// @param foldedBytes bytes of the source that are in the totals
    /// @param counts of all records so far
    default void folded(long durableBytes, long foldedBytes, Counts counts) {}

    /// A followed file is open.
    ///
    /// @param generation number of the file among those that had the name, from 1
    default void following(Path file, long generation) {}

    /// A file that was rotated away is folded to its end.
    default void finished(Path file) {}

    /// Lets a fold run to its end.
    static FoldListener silent() {
        return () -> false;
    }
}
