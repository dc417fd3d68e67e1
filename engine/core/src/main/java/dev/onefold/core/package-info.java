/// Onefold's core: the rooms that a record passes, and the [Engine] that a runtime makes of them. Pure: no
/// file, socket, clock, thread or randomness.
///
/// A package imports only those to its right:
///
///     form > core > query > aggregate > reduce > process > map > state > event > batch > builder >
///     grammar > shape > pipeline > document > bytes
@NullMarked
package dev.onefold.core;

import org.jspecify.annotations.NullMarked;
