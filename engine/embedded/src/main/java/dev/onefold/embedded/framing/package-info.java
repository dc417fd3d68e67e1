/// The records in the bytes of a source, and its position behind them.
@NullMarked
package dev.onefold.embedded.framing;

import org.jspecify.annotations.NullMarked;
