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
public record Opened(
        RowSource source, String shown, Rate rate, @Nullable String stream) implements AutoCloseable {
    @Override
    public void close() {
        source.close();
    }
}
