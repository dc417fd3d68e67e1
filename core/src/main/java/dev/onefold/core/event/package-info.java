/// The first room: bytes become an event, or a reason why not.
@NullMarked
package dev.onefold.core.event;

import org.jspecify.annotations.NullMarked;
