/// Who may touch the engine's state, when, and on which thread; and the wait for space on a full disk.
@NullMarked
package dev.onefold.embedded.guard;

import org.jspecify.annotations.NullMarked;
