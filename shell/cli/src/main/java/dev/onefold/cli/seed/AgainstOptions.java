package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.TimeOption;
import dev.onefold.cli.run.Progress;
import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of a comparison of an engine's rows with a source: the source, repair, waits and output.
public final class AgainstOptions {
    private static final Duration LAG = Duration.ofSeconds(10);

    @Option(
            names = "--against",
            paramLabel = "SOURCE",
            description = "Compares the rows with the table that they come from, in both directions, while both"
                    + " change: dynamodb:TABLE, postgresql://HOST/DATABASE with --query, or a file (NDJSON or CSV;"
                    + " .gz, .zst). Rows that differ twice, with a wait between, are reported.")
    @Nullable
    String source;

    @Option(
            names = "--query",
            paramLabel = "SQL",
            description = "With --against: on PostgreSQL, the query of all rows; its columns are the fields.")
    @Nullable
    String query;

    @Option(
            names = "--repair",
            description = "With --against: brings what differs to what the source has. A live change that comes"
                    + " meanwhile always wins.")
    boolean repair;

    @Option(
            names = "--remove-many",
            description = "With --repair: removes rows that the table lacks also if it is empty, or lacks more than 100"
                    + " rows and more than a tenth of those that are here. Default: then none is removed.")
    boolean removesMany;

    @Option(
            names = "--lag",
            paramLabel = "T",
            description = "With --against: the longest that a change takes from the table to the engine: 500ms, 10s,"
                    + " 5m. A change that takes longer may look like a difference. Default: 10s.")
    private @Nullable String lag;

    @Option(
            names = "--every",
            paramLabel = "T",
            description = "With --against: compares again and again, so often: 6h, 1d; until Ctrl-C.")
    private @Nullable String every;

    @Option(
            names = "--at-rest",
            description = "With --against FILE and --repair: says that the table has not changed since the file was"
                    + " written.")
    boolean atRest;

    @Option(
            names = "--stream",
            paramLabel = "ARN",
            description = "With --against: the change stream that the pipeline reads, as of 'onefold seed'.")
    private @Nullable String stream;

    @Option(
            names = "--no-stream",
            description = "With --against: the live records do not come from the table's change stream.")
    private boolean noStream;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "With --against: at most so many read units of a table a second; else rows a second."
                    + " Default: no limit.")
    private @Nullable Long rate;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "With --against: one of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Format format = Format.text;

    @Option(
            names = "--progress",
            paramLabel = "MODE",
            description = "With --against: as of 'onefold run': ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Progress.Mode progress = Progress.Mode.auto;

    /// How a report is written. The names are those of the option, hence in small letters.
    enum Format {
        text,
        json
    }

    /// Whether a comparison with a source is wanted.
    ///
    /// @throws CommandFailure if it is not, and an option of it is there
    public boolean isWanted() {
        boolean hasOther = repair
                || removesMany
                || noStream
                || atRest
                || rate != null
                || format != Format.text
                || Stream.of(query, lag, every, stream).anyMatch(each -> each != null);
        if (source == null && hasOther) {
            throw CommandFailure.usage("Say with --against what the rows are compared with.");
        }
        if (removesMany && !repair) {
            throw CommandFailure.usage("--remove-many is a part of --repair.");
        }
        return source != null;
    }

    /// Whether the source is a table of DynamoDB or an export of one.
    public boolean isOnAws() {
        return source != null && (source.startsWith(SeedSources.DYNAMODB) || source.startsWith(SeedSources.EXPORT));
    }

    /// Whether rows are changed.
    public boolean repairs() {
        return repair;
    }

    boolean isRepeated() {
        return every != null;
    }

    Duration every() {
        return TimeOption.of("--every", String.valueOf(every));
    }

    Duration lag() {
        return lag == null ? LAG : TimeOption.of("--lag", lag);
    }

    long rate() {
        if (rate != null && rate < 1) {
            throw CommandFailure.usage("--rate is 1 or more, not " + rate + ".");
        }
        return rate == null ? 0 : rate;
    }

    /// The source, as a seeding would read it.
    SeedOptions asSeed() {
        SeedOptions seed = new SeedOptions();
        seed.from = String.valueOf(source);
        seed.query = query;
        seed.stream = stream;
        seed.noStream = noStream || query != null; // A slot that is not there is a difference, if it is one.
        seed.progress = progress;
        return seed;
    }
}
