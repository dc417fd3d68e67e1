/// Onefold's core: the rooms that a record passes, and the [Engine] that a runtime makes of them. Pure: no
/// file, socket, clock, thread or randomness.
///
/// A package imports only those to its right:
///
///     form > letter > core > totals > query > aggregate > reduce > keyed > process > map > state > event >
///     seal > batch > builder > grammar > codec > shape > pipeline > json > document > bytes
@NullMarked
package dev.onefold.core;

import org.jspecify.annotations.NullMarked;
