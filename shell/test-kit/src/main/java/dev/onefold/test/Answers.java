package dev.onefold.test;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// The answers of an engine that has all records.
///
/// @param tables the rows of each table of a function, as JSON, in the order of their keys
/// @param totals the groups of each roll-up as JSON, parents before children: `{"group":[…],"values":{…}}`
/// @param tooLate number of events that were too late, or whose refold was too wide for one step. Such events are
/// dead letters, and depend on the order of arrival
/// @param notTheOwner number of events that would have written rows of other keys: dead letters that depend on the
///     order of arrival, too
public record Answers(
        SortedMap<String, List<String>> tables,
        SortedMap<String, List<String>> totals,
        long tooLate,
        long notTheOwner) {
    public Answers {
        tables = Collections.unmodifiableSortedMap(new TreeMap<>(tables));
        totals = Collections.unmodifiableSortedMap(new TreeMap<>(totals));
    }
}
