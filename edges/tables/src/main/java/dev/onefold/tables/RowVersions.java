package dev.onefold.tables;

import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The versions of a table's rows.
public final class RowVersions {
    private RowVersions() {}

    /// Whether versions are places in a log, which a row does not have.
    public static boolean areByPlace(Pipeline pipeline) {
        return pipeline.input().identity() instanceof Identity.Versioned versioned && versioned.version() == null;
    }

    /// The form of the rows of a seeding or a comparison.
    ///
    /// @param stream ARN of the change stream of the table; `null` if there is none, or it plays no part
    /// @throws IllegalArgumentException if the log that the pipeline reads is not known
    public static RowForm form(Pipeline pipeline, @Nullable String stream, long number) {
        if (areByPlace(pipeline)) {
            return RowForm.positioned(generation(pipeline, stream), number);
        }
        return pipeline.input().format() instanceof Format.Changes ? RowForm.row() : RowForm.plain();
    }

    /// Refuses a stream of another kind than the one that is read: those of Kinesis have times as versions, which are
    /// above all places in a table's own stream, so that live changes would be stale for ever.
    ///
    /// @param stream ARN of the stream that the rows are below; `null` if it plays no part
    /// @param input ARN of the stream that the deployment of this pipeline reads
    /// @throws IllegalArgumentException if they are of two kinds
    public static void requireKind(Pipeline pipeline, @Nullable String stream, String input) {
        if (stream != null && areByPlace(pipeline) && SourceTable.isKinesis(stream) != SourceTable.isKinesis(input)) {
            throw new IllegalArgumentException("The deployment of pipeline " + pipeline.name() + " reads " + input
                    + ", and the rows would be below " + stream
                    + ", which is of another kind: the versions of the two cannot be compared. Name the stream that it"
                    + " reads with --stream; or let it read the other one first");
        }
    }

    /// Refuses another table than the one whose changes a deployment reads.
    ///
    /// @param stream ARN of the change stream of the table; `null` if it plays no part
    /// @param input ARN of the stream that the deployment reads
    /// @throws IllegalArgumentException if they are of two tables
    public static void requireTable(@Nullable String stream, String input) {
        String table = stream == null ? "" : SourceTable.ofStream(stream);
        String read = SourceTable.ofStream(input);
        if (!table.isEmpty() && !read.isEmpty() && !table.equals(read)) {
            throw new IllegalArgumentException("The deployment reads the change stream " + read + "/"
                    + input.replaceFirst(".*/", "") + ", which is not one of table " + table
                    + ". Compare the rows with the table that they come from");
        }
    }

    /// Names the log that the rows are below: a seeding that goes on below another one has to read all rows
    /// again.
    ///
    /// @throws IllegalArgumentException if it is not known
    public static String log(Pipeline pipeline, @Nullable String stream) {
        return areByPlace(pipeline) ? "generation " + generation(pipeline, stream) : "";
    }

    /// The generation of the log that the pipeline reads.
    ///
    /// @throws IllegalArgumentException if it is not known
    public static long generation(Pipeline pipeline, @Nullable String stream) {
        return switch (pipeline.input().format()) {
            case Format.Debezium debezium -> Math.max(0, debezium.logNames().size() - 1); // Rows are of the latest log.
            case Format.DynamoDbStream format -> generation(pipeline, format, stream);
            case Format.Json _, Format.Csv _ -> throw new IllegalStateException("Only a log has places");
        };
    }

    private static long generation(Pipeline pipeline, Format.DynamoDbStream format, @Nullable String stream) {
        Instant said = format.stream();
        if (stream == null && said == null) {
            throw new IllegalArgumentException("The versions of pipeline " + pipeline.name()
                    + " are places in the change stream of a table, and nothing says in which one: give its ARN with"
                    + " --stream");
        }
        if (stream != null && SourceTable.isKinesis(stream)) {
            if (said != null) {
                throw new IllegalArgumentException("Pipeline " + pipeline.name()
                        + " reads the table's own change stream of " + said + ", and " + stream
                        + " is a stream of Kinesis: rows with its versions would be above all changes of the other"
                        + " one, for ever. Name the stream that the pipeline reads");
            }
            return Version.TIMED_GENERATION;
        }
        Instant on = stream == null ? said : SourceTable.begin(stream);
        if (said != null && on != null && said.getEpochSecond() != on.getEpochSecond()) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " reads the change stream of " + said
                    + ", and the table's was switched on at " + on + ". Let the pipeline read that one first");
        }
        return on == null ? 0 : on.getEpochSecond();
    }
}
