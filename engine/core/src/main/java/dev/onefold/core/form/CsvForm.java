package dev.onefold.core.form;

import dev.onefold.core.query.Answer;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An answer as CSV (RFC 4180, lines end with LF): the depth of the group, its levels, its measures. The cut
/// is not in it.
public final class CsvForm {
    private static final String FORMULA_BEGINNINGS = "=+-@\t\r";

    private CsvForm() {}

    /// Writes an answer line by line.
    ///
    /// @param neutralise whether a text that a spreadsheet would take for a formula gets a ' before it
    public static void write(Answer answer, boolean neutralise, Consumer<String> out) {
        List<String> header = new ArrayList<>(List.of("depth"));
        header.addAll(answer.levels());
        header.addAll(answer.measures());
        out.accept(line(neutralise ? neutral(header) : header));
        for (Answer.Line line : answer.lines()) {
            List<String> cells =
                    new ArrayList<>(List.of(String.valueOf(line.group().size())));
            cells.addAll(neutralise ? neutral(line.group()) : line.group());
            for (int level = line.group().size(); level < answer.levels().size(); level++) {
                cells.add("");
            }
            line.values().forEach(value -> cells.add(text(value)));
            out.accept(line(cells));
        }
    }

    /// Writes the rows of a table line by line: its columns, a list or a record in it as JSON. An absent value and an
    /// empty text are alike.
    ///
    /// @param neutralise whether a text that a spreadsheet would take for a formula gets a ' before it
    public static void write(TableAnswer.Table table, boolean neutralise, Consumer<String> out) {
        out.accept(line(neutralise ? neutral(table.columns()) : table.columns()));
        for (Value.Fields row : table.rows()) {
            List<String> cells = table.columns().stream()
                    .map(column -> cell(row.components().get(column), neutralise))
                    .toList();
            out.accept(line(cells));
        }
    }

    private static String cell(@Nullable Value value, boolean neutralise) {
        return switch (value) {
            case null -> "";
            case Value.Absent _ -> "";
            case Value.Text(String text, boolean _) ->
                neutralise ? neutral(List.of(text)).getFirst() : text;
            case Value.Items items -> items.toJson();
            case Value.Fields fields -> fields.toJson();
            case Value.Decimal(BigDecimal number) -> number.toPlainString();
            case Value.Flag _, Value.Whole _, Value.Time _, Value.Date _, Value.Span _ -> String.valueOf(value.plain());
        };
    }

    private static String text(@Nullable BigDecimal value) {
        return value == null ? "" : value.toPlainString();
    }

    private static List<String> neutral(List<String> texts) {
        return texts.stream()
                .map(text -> !text.isEmpty() && FORMULA_BEGINNINGS.indexOf(text.charAt(0)) >= 0 ? "'" + text : text)
                .toList();
    }

    private static String line(List<String> cells) {
        StringBuilder text = new StringBuilder();
        String separator = "";
        for (String cell : cells) {
            text.append(separator);
            if (cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')) {
                text.append('"').append(cell.replace("\"", "\"\"")).append('"');
            } else {
                text.append(cell);
            }
            separator = ",";
        }
        return text.append('\n').toString();
    }
}
