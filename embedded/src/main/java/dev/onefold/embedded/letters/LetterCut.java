package dev.onefold.embedded.letters;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a checkpoint has to write of the dead letters.
public final class LetterCut {
    final List<byte[]> changes;
    /// Number of the first change.
    final long first;
    /// All letters, if the log is rewritten; their new positions are put into the tags.
    final @Nullable LetterSlots all;
    final long idLast;
    /// Where each change is, once it is written.
    final long[] at;

    LetterCut(List<byte[]> changes, long first, @Nullable LetterSlots all, long idLast) {
        this.changes = changes;
        this.first = first;
        this.all = all;
        this.idLast = idLast;
        at = new long[all == null ? changes.size() : 0];
    }
}
