package dev.onefold.core.keyed;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/// The stored state of one key. It is read where it is needed, and does not change while this object is in use.
public interface Store {
    /// Events that are kept, in the order of their ordinals. Some that are kept no longer may be among
    /// them.
    ///
    /// @param from the lowest ordinal that is kept
    List<Kept> kept(long from);

    /// The base, which is there.
    Base base();

    /// Rows of the key as the tables hold them; a row that is not there is not in the answer.
    Map<RowId, byte[]> rows(Collection<RowId> rows);
}
