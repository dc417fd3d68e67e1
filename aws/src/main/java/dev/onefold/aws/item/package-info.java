/// What stands in the tables: items, as values, and how they are written.
@NullMarked
package dev.onefold.aws.item;

import org.jspecify.annotations.NullMarked;
