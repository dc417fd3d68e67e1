/// The items of the tables, as values, and how they are written.
@NullMarked
package dev.onefold.aws.item;

import org.jspecify.annotations.NullMarked;
