package dev.onefold.tables.compare;

import dev.onefold.core.event.Version;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.RowMark;
import org.jspecify.annotations.Nullable;

/// The row of a key in the source.
///
/// @param mark the key, the version if the row has one of its own, and a hash of the content
/// @param contribution the contribution of the row; `null` if the pipeline refuses the row
/// @param reason the reason for the refusal; empty if the row is not refused
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

    /// The same without the bytes that only a repair needs.
    SourceRow withoutRow() {
        return new SourceRow(mark, contribution, reason, new byte[0]);
    }

    /// The greater of two rows of one key: the one that an engine would keep.
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
