/// The second room: what an event changes of its key.
@NullMarked
package dev.onefold.core.state;

import org.jspecify.annotations.NullMarked;
