package dev.onefold.load;

import java.io.IOException;
import java.io.OutputStream;

/// Messages that are made one after the other, and equal for equal arguments, however they are fetched. Not
/// thread-safe.
public sealed interface Load permits TradeRiskLoad, BurstLoad {
    /// How many messages are still to be written.
    long remaining();

    /// Writes the next messages, whole lines, at most so many; the stream is not flushed.
    ///
    /// @return how many were written; 0 at the end
    long write(OutputStream out, long messagesMax) throws IOException;
}
