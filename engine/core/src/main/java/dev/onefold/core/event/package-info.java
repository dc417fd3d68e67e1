/// The first room: bytes become an event, or a reason why not. It is one idea: the formats fill the same
/// slots of fields, and one decoder reads them.
@NullMarked
package dev.onefold.core.event;

import org.jspecify.annotations.NullMarked;
