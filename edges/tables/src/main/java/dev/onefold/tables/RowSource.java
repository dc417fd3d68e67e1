package dev.onefold.tables;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// The source of a table's rows. It has parts that are read beside each other, and each part has marks, at
/// which a later reading can continue.
public interface RowSource extends AutoCloseable {
    /// The mark of a part that is read to its end.
    String END = "end";

    /// The mark of a part's beginning.
    String BEGINNING = "";

    /// The identity of the content. A source with the same identity can be read from the marks of this one.
    String identity();

    /// When the rows were the table's, if they were kept since; empty if they are read now, or nobody
    /// knows.
    default Optional<Instant> asOf() {
        return Optional.empty();
    }

    /// The names of the parts.
    List<String> parts();

    /// The size of the source; none of its numbers is exact.
    Extent extent();

    /// Reads on to the end of all parts, or until the taker has enough.
    ///
    /// @param from the mark of each part
    /// @throws IOException if the source cannot be read, or has changed
    void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException;

    /// Waits until every change has ended that had begun and that a reading may not have seen.
    ///
    /// @param isStopped whether to wait no longer
    default void awaitWriters(BooleanSupplier isStopped) throws IOException, InterruptedException {}

    @Override
    void close();

    /// Takes rows. The threads of a source call it beside each other.
    @FunctionalInterface
    interface Taker {
        /// Takes the next rows of a part; waits while there is no room for them.
        ///
        /// @return whether to continue
        boolean take(Rows rows) throws InterruptedException;
    }

    /// Some rows of a part.
    ///
    /// @param lines bytes of whole lines, one for each row; the taker's own
    /// @param length bytes of `lines` that are lines
    /// @param count how many lines these are
    /// @param mark the mark behind them, at which the part continues
    /// @param done how much of the extent has been read since the last rows of this part
    record Rows(String part, byte[] lines, int length, int count, String mark, long done) {}

    /// The size of a source.
    ///
    /// @param total of what [Rows#done] counts; 0 if it is not known
    /// @param rows how many rows, about; 0 if it is not known
    /// @param readUnits units that the reading is charged, about; 0 if it costs none
    record Extent(long total, long rows, long readUnits) {}
}
