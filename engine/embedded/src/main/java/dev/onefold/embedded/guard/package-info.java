/// Access to the engine's state: its callers, its times and its threads; and the wait for space on a full disk.
@NullMarked
package dev.onefold.embedded.guard;

import org.jspecify.annotations.NullMarked;
