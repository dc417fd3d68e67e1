package dev.onefold.cli.verbs;

import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/// An answer as text, handed on line by line.
///
/// @param pipeline its name
/// @param root the group that was asked for; lines are indented from it on
/// @param ranked whether the lines are a top list, each with its whole group, and no tree
record AnswerText(String pipeline, Answer answer, List<String> root, boolean ranked) {
    private static final int SOURCES_SHOWN_MAX = 5;

    /// As a tree with aligned numbers, and below it what it covers.
    ///
    /// @param source makes a source's name short and printable
    /// @param unit in which the progress of sources is counted
    public void table(Consumer<String> out, int width, boolean cut, UnaryOperator<String> source, String unit) {
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
        out.accept("\n" + cut(answer.cut(), source, unit));
    }

    List<String> cells(Answer.Line line) {
        List<String> cells = new ArrayList<>(List.of(label(line.group())));
        line.values().forEach(value -> cells.add(Words.number(value)));
        return cells;
    }

    String title() {
        String levels = answer.levels().isEmpty() ? "" : " by " + String.join(" / ", answer.levels());
        String rollup = answer.rollup().equals(Rollup.MAIN) ? "" : ", " + answer.rollup();
        return Words.visible(pipeline + rollup + levels);
    }

    private String label(List<String> group) {
        if (ranked || group.size() <= root.size()) {
            return Words.path(group);
        }
        return "  ".repeat(group.size() - root.size()) + Words.group(group.getLast());
    }

    /// The unit in which the progress of a pipeline's sources is counted: where a record may have several lines, lines.
    static String unit(Pipeline pipeline) {
        return RecordEnds.of(pipeline).mayHaveLines() ? "line" : "record";
    }

    /// The lines that say which part of the input an answer covers: its time, and the records or lines and the bytes of
    /// each source.
    static String cut(Answer.Cut cut, UnaryOperator<String> source, String unit) {
        StringBuilder text = new StringBuilder();
        List<Answer.Progress> sources = cut.sources();
        long records = sources.stream().mapToLong(Answer.Progress::records).sum();
        text.append("At ").append(Words.time(cut.at()));
        if (sources.isEmpty()) { // On AWS there are none: the time says what is in.
            return text.append(".\n").toString();
        }
        text.append(", with ").append(Words.count(records, unit));
        text.append(" of ").append(Words.count(sources.size(), "source")).append(":\n");
        int from = Math.max(0, sources.size() - SOURCES_SHOWN_MAX);
        if (from > 0) {
            text.append("  (").append(Words.count(from)).append(" earlier ones: see --format json)\n");
        }
        for (Answer.Progress progress : sources.subList(from, sources.size())) {
            text.append("  ").append(source.apply(progress.source())).append(": ");
            text.append(Words.count(progress.records(), unit)).append(", ");
            text.append(Words.count(progress.bytes(), "byte")).append('\n');
        }
        return text.toString();
    }
}
