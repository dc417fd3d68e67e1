package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Answers to one question as a person watches them: each with a mark beside the cells that differ from the answer
/// before. Remembers the lines that it has shown, and no others. Not thread-safe.
final class WatchText {
    static final char MARK = '*';

    private static final int LINES_MAX = 10_000;
    private static final int LINES_AROUND = 8; // Title, header, what is gone, the time and the lines between them.
    private static final int GONE_SHOWN_MAX = 3;
    /// A mark inside a table: no name holds it, because names are made visible. It takes one column, like the marks.
    private static final char PLACE = '\u0001';

    private static final String COLOUR = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";

    private final Screen screen;
    private final List<String> root;
    private final boolean ranked;
    private @Nullable List<Answer.Line> before;

    /// @param root the group that was asked for
    /// @param ranked whether the answers are top lists
    WatchText(Screen screen, List<String> root, boolean ranked) {
        this.screen = screen;
        this.root = List.copyOf(root);
        this.ranked = ranked;
    }

    /// The text that shows an answer.
    ///
    /// @param lines the lines of the text, without line ends
    /// @param isChanged whether it differs from the answer before; true for the first one
    record Shown(List<String> lines, boolean isChanged) {
        Shown {
            lines = List.copyOf(lines);
        }
    }

    /// The text of the next answer.
    ///
    /// @param unit in which the progress of sources is counted
    Shown next(String pipeline, String unit, Answer answer) {
        int linesMax = screen.outIsTerminal() ? Math.max(1, screen.height() - LINES_AROUND) : LINES_MAX;
        List<Answer.Line> now = answer.lines().stream().limit(linesMax).toList();
        List<Answer.Line> last = before;
        before = now;
        Map<List<String>, Answer.Line> old = new HashMap<>();
        (last == null ? now : last).forEach(line -> old.put(line.group(), line));
        AnswerText plain = new AnswerText(pipeline, answer, root, ranked);
        List<String> header = new ArrayList<>(List.of(""));
        answer.measures().forEach(measure -> header.add(Words.visible(measure) + " "));
        Table table = new Table(header);
        now.forEach(line -> table.add(cells(plain, line, old.get(line.group()))));
        int width = screen.outWidth();
        List<String> text = new ArrayList<>(List.of(Words.wrap(plain.title(), width), ""));
        text.addAll(now.isEmpty() ? List.of("Nothing is in it.") : body(table, width, linesMax));
        if (answer.lines().size() > now.size()) {
            text.add("and " + Words.count(answer.lines().size() - now.size(), "more group"));
        }
        String gone = last == null || answer.lines().size() > now.size() ? "" : gone(last, now);
        if (!gone.isEmpty()) {
            text.add(Words.wrap(gone, width));
        }
        text.add("");
        boolean isChanged = !now.equals(last);
        text.add(Words.wrap(
                covered(answer.cut(), unit) + (last != null && isChanged ? " " + MARK + " has changed." : ""), width));
        return new Shown(
                text.stream().flatMap(line -> Stream.of(line.split("\n", -1))).toList(), isChanged);
    }

    private List<String> body(Table table, int width, int linesMax) {
        List<String> lines = table.text(width, screen.outIsTerminal()).lines().toList();
        return lines.subList(0, Math.min(lines.size(), linesMax + 1)).stream() // A row may take several lines.
                .map(line -> (screen.colour()
                                ? line.replaceAll("([0-9,.-]+)" + PLACE, COLOUR + "$1" + MARK + PLAIN)
                                : line)
                        .replace(PLACE, MARK)
                        .stripTrailing())
                .toList();
    }

    private static List<String> cells(AnswerText plain, Answer.Line line, Answer.@Nullable Line old) {
        List<String> cells = new ArrayList<>(plain.cells(line));
        for (int i = 0; i < line.values().size(); i++) {
            BigDecimal value = line.values().get(i);
            boolean same = old != null && isSame(old.values().get(i), value);
            cells.set(i + 1, cells.get(i + 1) + (same ? ' ' : PLACE));
        }
        return cells;
    }

    private static boolean isSame(@Nullable BigDecimal one, @Nullable BigDecimal other) {
        return one == null || other == null ? one == null && other == null : one.compareTo(other) == 0;
    }

    private static String gone(List<Answer.Line> last, List<Answer.Line> now) {
        Set<List<String>> there = now.stream().map(Answer.Line::group).collect(Collectors.toCollection(HashSet::new));
        List<List<String>> gone = last.stream()
                .map(Answer.Line::group)
                .filter(group -> !there.contains(group))
                .toList();
        String names = gone.stream().limit(GONE_SHOWN_MAX).map(Words::path).collect(Collectors.joining(", "));
        return gone.isEmpty()
                ? ""
                : "No longer here: " + names
                        + (gone.size() > GONE_SHOWN_MAX
                                ? " and " + Words.count(gone.size() - GONE_SHOWN_MAX) + " more"
                                : "");
    }

    private String covered(Answer.Cut cut, String unit) {
        long records =
                cut.sources().stream().mapToLong(Answer.Progress::records).sum();
        return "At " + Words.time(cut.at())
                + (cut.sources().isEmpty() ? "" : ", with " + Words.count(records, unit)) + "."
                + (screen.outIsTerminal() ? " Ctrl-C ends." : "");
    }
}
