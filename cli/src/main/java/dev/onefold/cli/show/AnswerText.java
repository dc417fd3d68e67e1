package dev.onefold.cli.show;

import dev.onefold.core.document.Json;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// An answer as text, handed on line by line.
///
/// @param pipeline its name
/// @param root the group that was asked for; lines are indented from it on
/// @param ranked whether the lines are a top list, each with its whole group, and no tree
public record AnswerText(String pipeline, Answer answer, List<String> root, boolean ranked) {
    private static final String FORMULA_BEGINNINGS = "=+-@\t\r";

    private static final int SOURCES_SHOWN_MAX = 5;

    /// As a tree with aligned numbers, and below it what it covers.
    ///
    /// @param source makes a source's name short and printable
    public void table(Consumer<String> out, int width, boolean cut, UnaryOperator<String> source) {
        List<String> header = new ArrayList<>(List.of(""));
        answer.measures().forEach(measure -> header.add(Words.visible(measure)));
        Table table =
                new Table(header, () -> answer.lines().stream().map(this::cells).iterator());
        out.accept(Words.wrap(title(), width) + "\n\n");
        if (table.isEmpty()) {
            out.accept("Nothing is in it.\n");
        } else {
            table.write(out, width, cut);
        }
        StringBuilder text = new StringBuilder("\n");
        appendCut(text, source);
        out.accept(text.toString());
    }

    private List<String> cells(Answer.Line line) {
        List<String> cells = new ArrayList<>(List.of(label(line.group())));
        line.values().forEach(value -> cells.add(Words.number(value)));
        return cells;
    }

    private String title() {
        String levels = answer.levels().isEmpty() ? "" : " by " + String.join(" / ", answer.levels());
        String rollup = answer.rollup().equals(Rollup.MAIN) ? "" : ", " + answer.rollup();
        return Words.visible(pipeline + rollup + levels);
    }

    private String label(List<String> group) {
        if (ranked || group.size() <= root.size()) {
            return GroupPath.shown(group);
        }
        return "  ".repeat(group.size() - root.size()) + Words.group(group.getLast());
    }

    private void appendCut(StringBuilder text, UnaryOperator<String> source) {
        List<Answer.Progress> sources = answer.cut().sources();
        long records = sources.stream().mapToLong(Answer.Progress::records).sum();
        text.append("At ").append(Words.time(answer.cut().at()));
        if (sources.isEmpty()) { // On AWS there are none: the time says what is in.
            text.append(".\n");
            return;
        }
        text.append(", with ").append(Words.count(records, "record"));
        text.append(" of ").append(Words.count(sources.size(), "source")).append(":\n");
        int from = Math.max(0, sources.size() - SOURCES_SHOWN_MAX);
        if (from > 0) {
            text.append("  (").append(Words.count(from)).append(" earlier ones: see --format json)\n");
        }
        for (Answer.Progress progress : sources.subList(from, sources.size())) {
            text.append("  ").append(source.apply(progress.source())).append(": ");
            text.append(Words.count(progress.records(), "record")).append(", ");
            text.append(Words.count(progress.bytes(), "byte")).append('\n');
        }
    }

    /// As one JSON object, each group on a line of its own.
    public void json(Consumer<String> out) {
        StringBuilder text = new StringBuilder("{\"pipeline\":").append(Json.of(pipeline));
        text.append(",\"rollup\":").append(Json.of(answer.rollup()));
        text.append(",\"levels\":").append(Json.of(answer.levels()));
        text.append(",\"measures\":").append(Json.of(answer.measures())).append(",\n\"groups\":[");
        String separator = "\n";
        for (Answer.Line line : answer.lines()) {
            Map<String, @Nullable BigDecimal> values = new LinkedHashMap<>();
            for (int i = 0; i < answer.measures().size(); i++) {
                values.put(answer.measures().get(i), line.values().get(i));
            }
            text.append(separator).append("{\"group\":");
            Json.append(text, line.group());
            Json.append(text.append(",\"values\":"), values);
            out.accept(text.append('}').toString());
            text.setLength(0);
            separator = ",\n";
        }
        text.append("],\n\"cut\":");
        Json.append(text, cut(answer.cut()));
        out.accept(text.append("}\n").toString());
    }

    private static Map<String, Object> cut(Answer.Cut cut) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("at", cut.at());
        json.put("sources", cut.sources().stream().map(AnswerText::progress).toList());
        return json;
    }

    private static Map<String, Object> progress(Answer.Progress progress) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("source", progress.source());
        json.put("records", progress.records());
        json.put("bytes", progress.bytes());
        return json;
    }

    /// As CSV: the depth of the group, its levels, its measures. The cut has no place in it.
    ///
    /// @param neutralise whether a text that a spreadsheet would take for a formula gets a ' before it
    public void csv(Consumer<String> out, boolean neutralise) {
        List<String> header = new ArrayList<>(List.of("depth"));
        header.addAll(answer.levels());
        header.addAll(answer.measures());
        out.accept(csv(neutralise ? neutral(header) : header));
        for (Answer.Line line : answer.lines()) {
            List<String> cells =
                    new ArrayList<>(List.of(String.valueOf(line.group().size())));
            cells.addAll(neutralise ? neutral(line.group()) : line.group());
            for (int level = line.group().size(); level < answer.levels().size(); level++) {
                cells.add("");
            }
            line.values().forEach(value -> cells.add(value == null ? "" : value.toPlainString()));
            out.accept(csv(cells));
        }
    }

    private static List<String> neutral(List<String> texts) {
        return texts.stream()
                .map(text -> !text.isEmpty() && FORMULA_BEGINNINGS.indexOf(text.charAt(0)) >= 0 ? "'" + text : text)
                .toList();
    }

    private static String csv(List<String> cells) {
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
