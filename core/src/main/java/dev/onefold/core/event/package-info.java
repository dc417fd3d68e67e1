/// The first room: bytes become an event, or a reason why not. It is one idea: scanners of several formats fill the same
/// fields, and what reads these knows no format.
@NullMarked
package dev.onefold.core.event;

import org.jspecify.annotations.NullMarked;
