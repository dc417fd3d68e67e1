package dev.onefold.aws.template;

import dev.onefold.aws.item.OutputTable;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The parts of the template that the tables of a user's function make: each table is one of DynamoDB, and State may
/// also remove what a function lets go.
final class FunctionParts {
    private final List<OutputTable> tables;

    /// @param tables none if the pipeline has no function
    FunctionParts(List<OutputTable> tables) {
        this.tables = List.copyOf(tables);
    }

    /// The tables as resources.
    String resources() {
        return IntStream.range(0, tables.size()).mapToObj(this::resource).collect(Collectors.joining());
    }

    private static String name(int table) {
        return "FunctionTable" + (table + 1);
    }

    private String resource(int number) {
        OutputTable table = tables.get(number);
        String definitions = table.key().stream()
                .map(key -> "{AttributeName: " + quoted(key.name()) + ", AttributeType: " + (key.isNumber() ? "N" : "S")
                        + "}")
                .collect(Collectors.joining(", "));
        String schema = IntStream.range(0, table.key().size())
                .mapToObj(part -> "{AttributeName: "
                        + quoted(table.key().get(part).name()) + ", KeyType: " + (part == 0 ? "HASH" : "RANGE") + "}")
                .collect(Collectors.joining(", "));
        List<String> part = List.of("table", name(number), "table-" + table.name(), definitions, schema);
        return TemplateFile.part(part, Set.of()) + "      BillingMode: PAY_PER_REQUEST\n";
    }

    private static String quoted(String name) {
        return "'" + name.replace("'", "''") + "'";
    }

    /// The permissions of State and Upkeep on the function's tables.
    String permissions() {
        if (tables.isEmpty()) {
            return "";
        }
        return statement(
                        "FunctionTables",
                        "'dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem'",
                        resourceNames())
                + statement("KeptEvents", "'dynamodb:DeleteItem'", "!GetAtt Rows.Arn")
                + statement(
                        "WithdrawnLetters",
                        "'dynamodb:ConditionCheckItem', 'dynamodb:DeleteItem'",
                        "!GetAtt Letters.Arn");
    }

    /// The permissions of Serve on the function's tables.
    String readPermissions() {
        return tables.isEmpty()
                ? ""
                : statement("FunctionTables", "'dynamodb:GetItem', 'dynamodb:Query'", resourceNames());
    }

    private String resourceNames() {
        return IntStream.range(0, tables.size())
                .mapToObj(table -> "!GetAtt " + name(table) + ".Arn")
                .collect(Collectors.joining(", "));
    }

    private static String statement(String sid, String actions, String resources) {
        return TemplateFile.part(List.of("allow", sid, actions, resources), Set.of());
    }
}
