/// Reads the rows of a table as lines of plain JSON, and brings them to an engine.
@NullMarked
package dev.onefold.tables;

import org.jspecify.annotations.NullMarked;
