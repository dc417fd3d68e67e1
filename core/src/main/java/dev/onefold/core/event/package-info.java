/// The first room: bytes become an event, or a reason why not. It is one idea: the decoder, and a reader for each part
/// of a record.
@NullMarked
package dev.onefold.core.event;

import org.jspecify.annotations.NullMarked;
