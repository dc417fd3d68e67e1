/// The content of dead letters, alike on both runtimes: records that lost a conflict, rows whose record is not kept,
/// and the edits that may replace them.
@NullMarked
package dev.onefold.core.letter;

import org.jspecify.annotations.NullMarked;
