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
