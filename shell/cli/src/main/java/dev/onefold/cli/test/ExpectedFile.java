package dev.onefold.cli.test;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Table;
import dev.onefold.test.Answers;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The tables and totals that are expected of a sample, as JSON with a line for each row and group:
///
///     {"tables":{
///     "stats":[
///     {"user_id":"u1","metres":1319}
///     ]},
///     "totals":{
///     "by-club":[
///     {"group":[],"values":{"runs":1}}
///     ]}}
///
/// @param parts for each table and roll-up, its rows or groups by their keys, with their values by name
record ExpectedFile(Map<String, Map<String, Map<String, String>>> parts) {
    private static final String TABLES = "tables";
    private static final String TOTALS = "totals";
    private static final String GROUP = "group";
    private static final String VALUES = "values";

    private static final String NONE = "none";

    /// A value that differs.
    ///
    /// @param row names it with its table or roll-up
    /// @param expected as JSON
    record Difference(String row, String column, String expected, String actual) {}

    /// The text of a file.
    static String text(Answers answers) {
        StringBuilder text = new StringBuilder("{");
        if (!answers.tables().isEmpty()) {
            append(text, TABLES, answers.tables());
            text.append(answers.totals().isEmpty() ? "" : ",\n");
        }
        if (!answers.totals().isEmpty()) {
            append(text, TOTALS, answers.totals());
        }
        return text.append("}\n").toString();
    }

    private static void append(StringBuilder text, String section, Map<String, List<String>> parts) {
        text.append(Json.of(section)).append(":{");
        String separator = "\n";
        for (Map.Entry<String, List<String>> part : parts.entrySet()) {
            text.append(separator).append(Json.of(part.getKey())).append(":[\n");
            text.append(String.join(",\n", part.getValue())).append("\n]");
            separator = ",\n";
        }
        text.append('}');
    }

    static ExpectedFile of(Pipeline pipeline, Answers answers) {
        return read(pipeline, text(answers), "");
    }

    /// Reads a text.
    ///
    /// @param name of the file, for a message
    /// @throws CommandFailure if it is not such a file
    static ExpectedFile read(Pipeline pipeline, String text, String name) {
        Problems problems = new Problems();
        Node node = JsonText.read(text, problems);
        if (!(node instanceof Node.Mapping file)) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    name + " is not a JSON object"
                            + (node == null
                                    ? ": " + problems.inOrder().getFirst().message()
                                    : "")
                            + ". '--write' makes a right one under another name.");
        }
        Map<String, Map<String, Map<String, String>>> parts = new TreeMap<>();
        for (Node.Entry section : file.entries()) {
            boolean isTables = section.name().text().equals(TABLES);
            if (!isTables && !section.name().text().equals(TOTALS)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        name + " has '" + Words.visible(section.name().text()) + "'. It may have tables and totals.");
            }
            for (Node.Entry part : mapping(section.value())) {
                String title = part.name().text();
                List<String> key = isTables ? key(pipeline, title) : List.of(GROUP);
                Map<String, Map<String, String>> rows = new TreeMap<>();
                items(part.value()).forEach(row -> rows.put(key(row, key), values(row)));
                parts.put(title, rows);
            }
        }
        return new ExpectedFile(parts);
    }

    private static Map<String, String> values(Node row) {
        Map<String, String> values = new TreeMap<>();
        for (Node.Entry entry : mapping(row)) {
            if (entry.name().text().equals(VALUES)) {
                mapping(entry.value()).forEach(each -> values.put(each.name().text(), Json.of(plain(each.value()))));
            } else {
                values.put(entry.name().text(), Json.of(plain(entry.value())));
            }
        }
        return values;
    }

    private static List<Node.Entry> mapping(Node node) {
        return node instanceof Node.Mapping mapping ? mapping.entries() : List.of();
    }

    private static List<Node> items(Node node) {
        return node instanceof Node.Sequence list ? list.items() : List.of();
    }

    private static List<String> key(Pipeline pipeline, String table) {
        return pipeline.fold() instanceof Processing processing
                ? processing
                        .table(table)
                        .map(processing.tables()::get)
                        .map(Table::key)
                        .orElse(List.of())
                : List.of();
    }

    /// The values of its key; the whole row if it has none of them.
    private static String key(Node row, List<String> names) {
        List<String> parts = new ArrayList<>();
        for (Node.Entry entry : mapping(row)) {
            if (names.contains(entry.name().text())) {
                Object value = plain(entry.value());
                if (value instanceof List<?> list) {
                    list.forEach(item -> parts.add(String.valueOf(item)));
                } else {
                    parts.add(String.valueOf(value));
                }
            }
        }
        return parts.isEmpty() && !names.equals(List.of(GROUP))
                ? Json.of(plain(row))
                : parts.isEmpty() ? "total" : String.join(", ", parts);
    }

    /// A value that is equal for equal JSON: names in order, numbers without trailing zeros.
    private static @Nullable Object plain(Node node) {
        return switch (node) {
            case Node.Mapping mapping -> {
                Map<String, @Nullable Object> plain = new TreeMap<>();
                mapping.entries().forEach(entry -> plain.put(entry.name().text(), plain(entry.value())));
                yield plain;
            }
            case Node.Sequence list -> {
                List<@Nullable Object> plain = new ArrayList<>();
                list.items().forEach(item -> plain.add(plain(item)));
                yield plain;
            }
            case Node.Scalar scalar -> scalar(scalar);
        };
    }

    private static @Nullable Object scalar(Node.Scalar scalar) {
        if (scalar.quoted()) {
            return scalar.text();
        }
        return switch (scalar.text()) {
            case "null" -> null;
            case "true" -> true;
            case "false" -> false;
            default -> {
                BigDecimal number = new BigDecimal(scalar.text());
                yield number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
            }
        };
    }

    /// The differences of `actual` from this file. A table or roll-up that this file does not have is not
    /// compared.
    List<Difference> differences(ExpectedFile actual) {
        List<Difference> differences = new ArrayList<>();
        parts.forEach((title, rows) -> {
            Map<String, Map<String, String>> others = actual.parts.getOrDefault(title, Map.of());
            TreeSet<String> keys = new TreeSet<>(rows.keySet());
            keys.addAll(others.keySet());
            for (String key : keys) {
                compare(title + ": " + key, rows.get(key), others.get(key), differences);
            }
            if (!actual.parts.containsKey(title) && rows.isEmpty()) {
                differences.add(new Difference(title, "", "there", NONE));
            }
        });
        return differences;
    }

    private static void compare(
            String row,
            @Nullable Map<String, String> expected,
            @Nullable Map<String, String> actual,
            List<Difference> differences) {
        if (expected == null || actual == null) {
            differences.add(
                    new Difference(row, "(all)", expected == null ? NONE : "there", actual == null ? NONE : "there"));
            return;
        }
        TreeSet<String> columns = new TreeSet<>(expected.keySet());
        columns.addAll(actual.keySet());
        for (String column : columns) {
            String one = expected.getOrDefault(column, NONE);
            String other = actual.getOrDefault(column, NONE);
            if (!one.equals(other)) {
                differences.add(new Difference(row, column, one, other));
            }
        }
    }
}
