package dev.onefold.embedded.source;

/// The fate of a source; durable when it is reported.
public sealed interface FoldReport extends FileSource.Outcome {
    /// Its records are in the totals.
    ///
    /// @param records folded by this call
    /// @param bytes of the source that are in the totals now
    record Folded(long records, long bytes) implements FoldReport {}

    /// All of its content was folded before, perhaps under another name.
    record AlreadyFolded(String asName) implements FoldReport {}
}
