/// The checkpoint, and the logs that name groups and hold cells.
@NullMarked
package dev.onefold.embedded.checkpoint;

import org.jspecify.annotations.NullMarked;
