package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.SourceTable;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Which version a row gets.
public final class Versions {
    private Versions() {}

    /// Whether versions are places in a log, which a row does not have.
    static boolean isByPlace(Pipeline pipeline) {
        return pipeline.input().identity() instanceof Identity.Versioned versioned && versioned.version() == null;
    }

    /// The form of the rows of a seeding.
    ///
    /// @param stream ARN of the change stream of the table; `null` if there is none, or it plays no part
    /// @throws CommandFailure if it is not known which log the pipeline reads
    public static RowForm form(Pipeline pipeline, @Nullable String stream, long number) {
        if (isByPlace(pipeline)) {
            return RowForm.positioned(generation(pipeline, stream), number);
        }
        return pipeline.input().format() instanceof Format.Changes ? RowForm.row() : RowForm.plain();
    }

    /// Refuses a stream of another kind than the one that is read: those of Kinesis have times as versions, which are
    /// above all places in a table's own stream, so that live changes would be stale for ever.
    ///
    /// @param stream ARN of the stream that the rows are below; `null` if it plays no part
    /// @param input ARN of the stream that the deployment of this pipeline reads
    /// @throws CommandFailure if they are of two kinds
    public static void requireKind(Pipeline pipeline, @Nullable String stream, String input) {
        if (stream != null && isByPlace(pipeline) && SourceTable.isKinesis(stream) != SourceTable.isKinesis(input)) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The deployment of pipeline " + pipeline.name() + " reads " + input
                            + ", and the rows would be below "
                            + stream + ", which is of another kind: the versions of the two cannot be compared."
                            + " Name the stream that it reads with --stream; or let it read the other one first.");
        }
    }

    /// Names the log that the rows are below: a seeding that goes on below another one has to read all rows again.
    public static String log(Pipeline pipeline, @Nullable String stream) {
        return isByPlace(pipeline) ? "generation " + generation(pipeline, stream) : "";
    }

    /// The generation of the log that the pipeline reads.
    static long generation(Pipeline pipeline, @Nullable String stream) {
        return switch (pipeline.input().format()) {
            case Format.Debezium debezium -> Math.max(0, debezium.logs().size() - 1); // Rows are of the latest log.
            case Format.DynamoDbStream format -> generation(pipeline, format, stream);
            case Format.Json _, Format.Csv _ -> throw new IllegalStateException("Only a log has places");
        };
    }

    private static long generation(Pipeline pipeline, Format.DynamoDbStream format, @Nullable String stream) {
        Instant said = format.stream();
        if (stream == null && said == null) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The versions of pipeline " + pipeline.name()
                            + " are places in the change stream of a table, and nothing"
                            + " says in which one: give its ARN with --stream.");
        }
        if (stream != null && SourceTable.isKinesis(stream)) {
            if (said != null) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Pipeline " + pipeline.name() + " reads the table's own change stream of " + said + ", and "
                                + stream + " is a stream of Kinesis: rows with its versions would be above all"
                                + " changes of the other one, for ever. Name the stream that the pipeline reads.");
            }
            return Version.TIMED_GENERATION;
        }
        Instant on = stream == null ? said : SourceTable.begin(stream);
        if (said != null && on != null && said.getEpochSecond() != on.getEpochSecond()) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Pipeline " + pipeline.name() + " reads the change stream of " + said
                            + ", and the table's was switched" + " on at " + on
                            + ". Let the pipeline read that one first.");
        }
        return on == null ? 0 : on.getEpochSecond();
    }
}
