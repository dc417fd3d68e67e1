package dev.onefold.core.form;

import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An answer as CSV (RFC 4180, lines end with LF): the depth of the group, its levels, its measures. The cut has no
/// place in it.
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
