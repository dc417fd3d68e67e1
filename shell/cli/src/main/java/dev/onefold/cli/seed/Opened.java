package dev.onefold.cli.seed;

import dev.onefold.tables.Rate;
import dev.onefold.tables.RowSource;
import org.jspecify.annotations.Nullable;

/// A source that is ready to be read.
///
/// @param shown what it is called
/// @param rate of rows
/// @param stream ARN of the change stream of the table that the rows are of; `null` if there is none, or it plays no
/// part
record Opened(
        RowSource source, String shown, Rate rate, @Nullable String stream) implements AutoCloseable {
    /// The same at another rate of rows.
    Opened at(Rate other) {
        return new Opened(source, shown, other, stream);
    }

    @Override
    public void close() {
        source.close();
    }
}
