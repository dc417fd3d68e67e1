package dev.onefold.cli.aws;

import dev.onefold.aws.template.Compared;
import dev.onefold.cli.call.CommandFailure;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Whether a deployment compares its rows with their source by itself.
final class CompareOptions {
    private static final String DYNAMODB = "dynamodb:";

    @Option(
            names = "--compare",
            paramLabel = "SOURCE",
            description = "Adds a function that compares the rows with the table that they come from, once a day, as"
                    + " 'onefold aws verify --against' does: dynamodb:TABLE. It has a role and alarms of its own;"
                    + " 'onefold aws compared' says what it has found.")
    private @Nullable String source;

    @Option(names = "--repair", description = "With --compare: the function brings what differs to what the table has.")
    private boolean repairs;

    /// The table to compare the rows with, and whether to repair them; empty without `--compare`.
    Optional<Compared> compared() {
        if (source == null) {
            if (repairs) {
                throw CommandFailure.usage("--repair is a part of --compare: say with what the rows are compared.");
            }
            return Optional.empty();
        }
        if (!source.startsWith(DYNAMODB)) {
            throw CommandFailure.usage("--compare takes a table of DynamoDB, as in dynamodb:Favourites, not '" + source
                    + "'. Compare with a database or a file by 'onefold aws verify --against'.");
        }
        try {
            return Optional.of(new Compared(source.substring(DYNAMODB.length()), repairs));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--compare: " + e.getMessage() + ".");
        }
    }

    /// Batches have no rows.
    void requireNone() {
        if (source != null || repairs) {
            throw CommandFailure.usage("--compare is for pipelines with totals; a batch pipeline keeps no rows that"
                    + " could be compared with a table.");
        }
    }
}
