package dev.onefold.tables.compare;

import dev.onefold.core.event.Version;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.RowMark;
import org.jspecify.annotations.Nullable;

/// What the source says of a key.
///
/// @param mark its key, its version if it has one of its own, and a hash of its content
/// @param contribution what it contributes; `null` if the pipeline refuses the row
/// @param reason why it is refused; empty if it is not
/// @param row the row as the source gives it, without a line end
public record SourceRow(RowMark mark, @Nullable Contribution contribution, String reason, byte[] row) {
    /// Content of a row that is refused: like no other.
    static final long REFUSED = Long.MIN_VALUE + 1;

    /// Whether the pipeline refuses the row.
    public boolean isRefused() {
        return contribution == null;
    }

    Version version() {
        return mark.version();
    }

    /// The same without what only a repair needs.
    SourceRow withoutRow() {
        return new SourceRow(mark, contribution, reason, new byte[0]);
    }

    /// Of two rows of one key the one that an engine would keep.
    static SourceRow greater(@Nullable SourceRow one, SourceRow other) {
        if (one == null || one.contribution == null) {
            return other;
        }
        if (other.contribution == null) {
            return one;
        }
        int order = one.version().compareTo(other.version());
        if (order == 0) {
            order = one.contribution.compareTo(other.contribution);
        }
        return order < 0 ? other : one;
    }
}
