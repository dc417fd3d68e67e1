package dev.onefold.core.keyed;

import dev.onefold.core.event.Malformed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of folding some events of a key. All of it is stored in one atomic step, on condition that the
/// revision of the key's head is still the one that was read.
///
/// @param head of the key, as it is stored
/// @param kept events that are to be stored
/// @param dropped ordinals of stored events that are no longer kept
/// @param base to be stored in place of the one that is there; `null` leaves it as it is
/// @param dropsBase whether the stored base is no longer read
/// @param rows the rows that changed
/// @param letters the letters to be kept
/// @param withdrawn events whose letters of reason FAILED or TOO_LATE are to be removed, because they are
///     folded now
public record Change(
        Head head,
        List<Kept> kept,
        List<Long> dropped,
        @Nullable Base base,
        boolean dropsBase,
        List<RowChange> rows,
        List<Letter> letters,
        List<Withdrawn> withdrawn) {
    public Change {
        kept = List.copyOf(kept);
        dropped = List.copyOf(dropped);
        rows = List.copyOf(rows);
        letters = List.copyOf(letters);
        withdrawn = List.copyOf(withdrawn);
    }

    /// The step after which nothing is kept of a key; see [Head#forGood].
    ///
    /// @param left events that are kept and can be read
    public static Change forGood(Head head, List<Kept> left) {
        List<Long> dropped = left.stream().map(Kept::ordinal).toList();
        return new Change(head.forGood(left), List.of(), dropped, null, true, List.of(), List.of(), List.of());
    }

    /// A row before and after; without content it is not there.
    public record RowChange(RowId row, byte @Nullable [] before, byte @Nullable [] after) {}

    /// An event that is folded now. Its letter is that of its key, version and content, at any place.
    ///
    /// @param hadLetter whether it had one when it came. A late event that is folded as it comes may have
    ///     had one when it came before
    public record Withdrawn(byte[] version, byte[] content, byte[] origin, boolean hadLetter) {}

    /// A dead letter.
    ///
    /// @param origin of its event
    /// @param content content of an event other than the one that came: all that is left of its record;
    ///     `null`: the record that came is kept whole
    public record Letter(Malformed why, byte[] origin, byte @Nullable [] version, byte @Nullable [] content) {}
}
