package dev.onefold.yaml;

import dev.onefold.core.document.Problem;
import java.lang.Character.UnicodeScript;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// Problems as a terminal shows them: place and message, then the line of the file with a caret under the column.
///
/// ```text
/// pipeline.yaml:5:3: input.versoin: 'versoin' is not a setting of input; did you
///   mean 'version'?
///   5 |   versoin: Version
///     |   ^
/// ```
final class ProblemText {
    static final int COLUMNS_MAX = 80;

    private static final String INDENT = "  ";

    /// A line is cut on its left, too, when less than this would be seen behind the caret.
    private static final int COLUMNS_AFTER_CARET = 16;

    /// A code point as it is shown, and how many columns that takes.
    private record Cell(String shown, int columns) {}

    private ProblemText() {}

    static String of(String name, SourceLines source, List<Problem> problems, int columns) {
        return problems.stream()
                .map(problem -> of(name, source, problem, columns))
                .collect(Collectors.joining("\n"));
    }

    private static String of(String name, SourceLines source, Problem problem, int columns) {
        String message = wrapped(
                Problem.visible(name, Integer.MAX_VALUE) + ":" + problem.place() + ":", problem.message(), columns);
        return source.line(problem.line())
                .filter(line -> !line.isBlank())
                .map(line -> message + excerpt(line, problem, Math.min(columns, COLUMNS_MAX)))
                .orElse(message);
    }

    /// The message behind its place, its further lines indented. A word that fits no line is broken.
    private static String wrapped(String place, String message, int columnsMax) {
        StringBuilder text = new StringBuilder(place);
        int columns = columns(cells(place));
        for (String word : message.split(" ", -1)) {
            List<Cell> cells = cells(word);
            if (columns + 1 + columns(cells) > columnsMax) {
                text.append('\n').append(INDENT);
                columns = INDENT.length();
            } else {
                text.append(' ');
                columns++;
            }
            for (Cell cell : cells) {
                if (columns + cell.columns() > columnsMax) {
                    text.append('\n').append(INDENT);
                    columns = INDENT.length();
                }
                text.append(cell.shown());
                columns += cell.columns();
            }
        }
        return text.append('\n').toString();
    }

    /// The line around the column, cut with `…`, and the caret.
    private static String excerpt(String line, Problem problem, int columnsMax) {
        String number = Integer.toString(problem.line());
        int width = columnsMax - INDENT.length() - number.length() - " | ".length();
        int length = line.codePointCount(0, line.length());
        int caret = Math.min(problem.column() - 1, length);
        int from = Math.max(0, caret - COLUMNS_MAX);
        int to = Math.min(length, caret + COLUMNS_MAX);
        List<Cell> before = cells(part(line, from, caret));
        List<Cell> after = cells(part(line, caret, to));
        int wanted = Math.max(1, columns(after)); // Behind the last character the caret itself takes a column.
        boolean cutBefore = from > 0 || columns(before) > width - Math.min(wanted, COLUMNS_AFTER_CARET);
        while (cutBefore && columns(before) > width - 1 - Math.min(wanted, width / 2)) {
            before.removeFirst();
        }
        int left = width - columns(before) - (cutBefore ? 1 : 0);
        boolean cutAfter = to < length || columns(after) > left;
        while (cutAfter && columns(after) > left - 1) {
            after.removeLast();
        }
        String shown = (cutBefore ? "…" : "") + shown(before) + shown(after) + (cutAfter ? "…" : "");
        String space = " ".repeat((cutBefore ? 1 : 0) + columns(before));
        return INDENT + number + " | " + shown.stripTrailing() + "\n" + INDENT + " ".repeat(number.length()) + " | "
                + space + "^\n";
    }

    private static String part(String line, int fromCodePoint, int toCodePoint) {
        int from = line.offsetByCodePoints(0, fromCodePoint);
        return line.substring(from, line.offsetByCodePoints(from, toCodePoint - fromCodePoint));
    }

    private static String shown(List<Cell> cells) {
        return cells.stream().map(Cell::shown).collect(Collectors.joining());
    }

    private static List<Cell> cells(String text) {
        List<Cell> cells = new ArrayList<>();
        text.codePoints().forEach(codePoint -> cells.add(cell(codePoint)));
        return cells;
    }

    private static int columns(List<Cell> cells) {
        return cells.stream().mapToInt(Cell::columns).sum();
    }

    private static Cell cell(int codePoint) {
        String text = Character.toString(codePoint);
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK -> new Cell(text, 0);
            case Character.CONTROL -> new Cell(codePoint == '\t' ? " " : "·", 1);
            case Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> new Cell("·", 1);
            default -> new Cell(text, isWide(codePoint) ? 2 : 1);
        };
    }

    private static boolean isWide(int codePoint) {
        return Character.isIdeographic(codePoint)
                || Character.isEmojiPresentation(codePoint)
                || switch (UnicodeScript.of(codePoint)) {
                    case HANGUL, HIRAGANA, KATAKANA -> true;
                    default -> false;
                };
    }
}
