/// Reads the rows of a table as lines of plain JSON, brings them to an engine, and compares them with its own. The
/// packages, each using only those behind it:
///
///     compare > tables
@NullMarked
package dev.onefold.tables;

import org.jspecify.annotations.NullMarked;
