/// The fold itself: rounds over the state in memory.
@NullMarked
package dev.onefold.embedded.fold;

import org.jspecify.annotations.NullMarked;
