/// Totals as items of a table that other programs read.
@NullMarked
package dev.onefold.aws.publication;

import org.jspecify.annotations.NullMarked;
