/// The last room: answers that are one cut, computed from the amounts of the leaves.
@NullMarked
package dev.onefold.core.totals;

import org.jspecify.annotations.NullMarked;
