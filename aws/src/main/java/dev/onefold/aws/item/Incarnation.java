package dev.onefold.aws.item;

import java.util.List;

/// The identity of a deployment's tables from one restore to the next. A restore from a backup makes a new table
/// under the old name, with an id of its own, and with items that say the id of the table that they were in. So a
/// restore is detected even if nothing in the items is out of date.
///
/// A new incarnation begins when the tables are declared to belong together again. Each transaction that writes
/// rows or totals checks that the incarnation is still the one that its process has read. So nothing from before
/// comes in, even if all earlier numbers are given again.
///
/// @param id greater than those of all before; never given twice
/// @param tables ids of the tables of rows, deltas, totals and letters; empty texts while the deployment is
///     closed, so that only the process that closed it takes the tables for known
public record Incarnation(String id, List<String> tables) {
    public static final String ID = "i";
    static final String TABLES = "t";

    public Incarnation {
        tables = List.copyOf(tables);
    }
}
