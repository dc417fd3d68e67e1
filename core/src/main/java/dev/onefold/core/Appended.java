package dev.onefold.core;

import java.util.List;

/// What became of appended records. They are forced to disk, and in the totals or among the dead letters.
///
/// @param acknowledged lines of the source that are acknowledged so far, these included
/// @param counts of these records alone
/// @param letters ids of the dead letters that these records became or caused, ascending
public record Appended(long acknowledged, Counts counts, List<Long> letters) {
    public Appended {
        letters = List.copyOf(letters);
    }
}
