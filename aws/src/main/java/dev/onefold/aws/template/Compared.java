package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.compare.SourceComparison;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/// The table that a deployment's rows are compared with by a function of their own.
///
/// @param table its name, in the account and region of the stack
/// @param repairs whether what differs is repaired
public record Compared(String table, boolean repairs) {
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_.-]{3,255}");

    /// @throws IllegalArgumentException if no table is called so
    public Compared {
        if (!NAME.matcher(table).matches()) {
            throw new IllegalArgumentException("'" + table + "' is not the name of a table of DynamoDB, which has 3 to"
                    + " 255 letters, digits, '_', '.' and '-'");
        }
    }

    /// Requires that the rows of the pipeline can be compared with the items of a table.
    ///
    /// @throws IllegalArgumentException saying why they cannot, and what to do
    void requirePossible(Pipeline pipeline, Input input) {
        SourceComparison.requireComparable(pipeline);
        String name = "Pipeline " + pipeline.name();
        switch (pipeline.input().format()) {
            case Format.Csv _ ->
                throw new IllegalArgumentException(
                        name + " reads CSV, and a table gives rows of JSON, so --compare cannot compare them");
            case Format.Debezium _ ->
                throw new IllegalArgumentException(name + " reads the changes of a database, and --compare is for a"
                        + " table of DynamoDB. Compare with 'onefold aws verify --against postgresql://…'");
            case Format.Json _ -> {
                if (input == Input.TABLE) {
                    throw new IllegalArgumentException(name + " reads changes as JSON, whose fields are not those of"
                            + " the table's items. Write 'format: dynamodb-stream', and name attributes as the table"
                            + " does; then --compare can compare them");
                }
            }
            case Format.DynamoDbStream _ -> {}
        }
    }

    /// The conditions of the template's text that hold with it.
    Set<String> conditions(Pipeline pipeline, Input input) {
        Set<String> conditions = new HashSet<>(Set.of("compare"));
        conditions.add(input != Input.TABLE && RowVersions.areByPlace(pipeline) ? "sent" : "unsent");
        return conditions;
    }
}
