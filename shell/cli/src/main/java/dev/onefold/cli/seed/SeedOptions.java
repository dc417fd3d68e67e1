package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.run.Progress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of a seeding: its source, the change stream of the source, and the output.
final class SeedOptions {
    private static final int SEGMENTS_MAX = 1_000;

    @Option(
            names = "--from",
            required = true,
            paramLabel = "SOURCE",
            description = "Where the rows are: a file (NDJSON or CSV; .gz, .zst), dynamodb:TABLE, export:FOLDER or"
                    + " export:s3://BUCKET/PREFIX (of a DynamoDB table), postgresql://HOST/DATABASE with --query.")
    String from = "";

    @Option(
            names = "--query",
            paramLabel = "SQL",
            description = "On PostgreSQL: the query; its columns are the fields. User and password may stand in"
                    + " PGUSER and PGPASSWORD.")
    @Nullable
    String query;

    @Option(
            names = "--segments",
            paramLabel = "N",
            description = "Segments of a table, or files of an export, that are read beside each other, 1 to "
                    + SEGMENTS_MAX + ". Default: ${DEFAULT-VALUE}.")
    private int segments = 8;

    @Option(
            names = "--stream",
            paramLabel = "ARN",
            description = "The change stream that the pipeline reads: of the table, or the Kinesis stream that its"
                    + " changes go to. Default: the one that the table has now; a file wants it where versions are places"
                    + " in a stream.")
    @Nullable
    String stream;

    @Option(
            names = "--slot",
            paramLabel = "NAME",
            description = "Of a database: the logical replication slot that Debezium reads. Default: the only one.")
    @Nullable
    String slot;

    @Option(
            names = "--no-stream",
            description =
                    "The pipeline's live records do not come from the table's change stream, so nobody asks whether it"
                            + " was on. Only where rows have a version or id of their own.")
    boolean noStream;

    @Option(
            names = "--restart",
            description = "Reads all rows, also if an earlier seeding from there was interrupted and can be continued.")
    boolean restart;

    @Option(names = "--dry-run", description = "Shows what would be read and what it costs, and does nothing.")
    boolean dryRun;

    @Option(
            names = "--progress",
            paramLabel = "MODE",
            description = "As of 'onefold run': ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Progress.Mode progress = Progress.Mode.auto;

    @Option(
            names = "--fail-on-rejected",
            description = "Exit code 1 if a row was rejected. All rows are seeded all the same.")
    boolean failOnRejected;

    int segments() {
        if (segments < 1 || segments > SEGMENTS_MAX) {
            throw CommandFailure.usage("--segments is 1 to " + SEGMENTS_MAX + ", not " + segments + ".");
        }
        return segments;
    }
}
