package dev.onefold.embedded.source;

import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.util.Objects;
import java.util.SortedMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A log whose records can be read a second time, by partition, from an offset to an offset. The reading goes on
/// beside the first one, and moves none of its positions.
///
/// @param name of the log, as in [LogBatch#log]
public record LogSource(String name, Opener opener) {
    public LogSource {
        Objects.requireNonNull(name, "The log's name is null");
        Objects.requireNonNull(opener, "The function that opens the log is null");
    }

    /// Opens a log for a second reading.
    public interface Opener {
        /// @param definition for which the records are read: their bytes may depend on it
        /// @param ends whether nobody waits any more
        Again open(Pipeline definition, BooleanSupplier ends) throws IOException;
    }

    /// A second reading. One thread.
    public interface Again extends AutoCloseable {
        /// Begins to read a range of each partition, once it is known that the log has it.
        ///
        /// @throws IOException if it is not the log of the marks, or has lost some; the message says which
        void begin(SortedMap<Integer, Range> ranges) throws IOException;

        /// The next records: each partition's from `from` to `to`, in their order and without a gap, an offset
        /// without a record included; `null` behind the last ones.
        ///
        /// @throws IOException if they cannot be read
        @Nullable
        LogBatch next() throws IOException;

        @Override
        void close();
    }

    /// Offsets of a partition that are in the results.
    ///
    /// @param to behind the last one
    /// @param mark of the reader, as it is kept with the partition's position
    public record Range(long from, long to, String mark) {}
}
