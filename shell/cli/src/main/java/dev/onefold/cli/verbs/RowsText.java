package dev.onefold.cli.verbs;

import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.shape.Value;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Rows of tables as text, handed on line by line.
///
/// @param pipeline whose tables they are
record RowsText(Pipeline pipeline, TableAnswer answer) {
    /// As tables, and below them what they cover.
    ///
    /// @param source makes a source's name short and printable
    void write(Consumer<String> out, int width, boolean cut, UnaryOperator<String> source) {
        for (TableAnswer.Table table : answer.tables()) {
            out.accept(Words.wrap(Words.visible(pipeline.name() + ", " + table.name()), width) + "\n\n");
            if (table.rows().isEmpty()) {
                out.accept("Nothing is in it.\n");
            } else {
                text(table).write(out, width, cut);
            }
            out.accept("\n");
        }
        out.accept(AnswerText.cut(answer.cut(), source, AnswerText.unit(pipeline)));
    }

    private Table text(TableAnswer.Table table) {
        List<String> key = pipeline.fold() instanceof Processing processing
                ? processing.tables().stream()
                        .filter(each -> each.name().equals(table.name()))
                        .flatMap(each -> each.key().stream())
                        .toList()
                : List.of();
        List<String> columns = table.columns();
        Table text = new Table(
                columns.stream().map(Words::visible).toList(),
                () -> table.rows().stream().map(row -> cells(columns, key, row)).iterator());
        Value.Fields first = table.rows().getFirst();
        for (int column = 1; column < columns.size(); column++) {
            if (!isNumber(first.components().get(columns.get(column)))) {
                text.left(column);
            }
        }
        return text;
    }

    private static boolean isNumber(@Nullable Value value) {
        return value instanceof Value.Whole || value instanceof Value.Decimal;
    }

    /// A number in a key is a name: it has no thousands separators.
    private static List<String> cells(List<String> columns, List<String> key, Value.Fields row) {
        return columns.stream()
                .map(column -> {
                    Value value = row.components().get(column);
                    return key.contains(column) && value instanceof Value.Whole(long number, boolean _)
                            ? String.valueOf(number)
                            : shown(value);
                })
                .toList();
    }

    /// A value for the eye.
    static String shown(@Nullable Value value) {
        return switch (value) {
            case null -> Words.NONE;
            case Value.Absent _ -> Words.NONE;
            case Value.Whole(long number, boolean _) -> Words.count(number);
            case Value.Decimal(var number) -> Words.number(number);
            case Value.Text(String text, boolean _) -> Words.group(text);
            case Value.Items items -> Words.visible(items.toJson());
            case Value.Fields fields -> Words.visible(fields.toJson());
            case Value.Flag _, Value.Time _, Value.Date _, Value.Span _ -> String.valueOf(value.plain());
        };
    }
}
