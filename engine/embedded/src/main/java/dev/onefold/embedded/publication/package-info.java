/// Copies of the totals elsewhere, which other programs read.
@NullMarked
package dev.onefold.embedded.publication;

import org.jspecify.annotations.NullMarked;
