package dev.onefold.aws.comparison;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The source that the rows of a deployment are compared with, and the wait until the rows have all that the
/// source has. On AWS it is a table of DynamoDB; a simulation has a source of its own.
public interface ComparedSource {
    /// Looks for it.
    ///
    /// @throws IllegalArgumentException if the rows of the pipeline cannot be compared with it
    Found find(Pipeline pipeline) throws IOException;

    /// The id that it has now.
    String id();

    /// How many read units of the deployment's rows are spent a second.
    Rate ofRows();

    /// Waits until intake has passed what the source has.
    ///
    /// @param number seedings with a lower one are waited for
    /// @param isStopped whether to wait no more
    Passing passing(long number, BooleanSupplier isStopped);

    /// A source as it is now.
    ///
    /// @param id another one if the table was made again under its name
    /// @param stream whose places are the versions of rows; `null` where versions are the user's own
    record Found(String id, RowSource rows, @Nullable String stream) {}
}
