/// Compares an engine's rows with the table that they come from, while both move, and repairs what differs.
@NullMarked
package dev.onefold.tables.compare;

import org.jspecify.annotations.NullMarked;
