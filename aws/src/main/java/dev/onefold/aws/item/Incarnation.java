package dev.onefold.aws.item;

import java.util.List;

/// What a deployment's tables are, from one restore to the next. A restore from a backup makes a new table under the
/// old name, with an id of its own, and with items that say the id of the table that they were in: by this it is found
/// out, also when nothing else of the items is old.
///
/// A new incarnation begins when the tables are told to belong together again. Each transaction that writes rows or
/// totals checks that the incarnation is still the one that its maker has read, so that nothing comes in from before,
/// even if all numbers of before are given again.
///
/// @param id greater than those of all before; never given twice
/// @param tables ids of the tables of rows, deltas, totals and letters; empty texts while the deployment is closed, so
///     that no process takes the tables for known but the one that closed it
public record Incarnation(String id, List<String> tables) {
    public static final String ID = "i";
    static final String TABLES = "t";

    public Incarnation {
        tables = List.copyOf(tables);
    }
}
