/// The second room: the change of a key by an event.
@NullMarked
package dev.onefold.core.state;

import org.jspecify.annotations.NullMarked;
