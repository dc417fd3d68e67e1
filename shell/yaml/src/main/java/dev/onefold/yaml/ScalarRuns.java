package dev.onefold.yaml;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.TextPlace;
import java.util.ArrayList;
import java.util.List;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;

/// Finds the place of each character of a YAML scalar in the file, by walking its value and its source side
/// by side: escapes are longer than their meaning, and folding turns line breaks and indents into one space.
/// Not thread-safe.
final class ScalarRuns {
    private final int[] source;
    private final int end;
    private int at;
    private int line;
    private int column;

    private ScalarRuns(int[] source, Mark start, int end) {
        this.source = source;
        this.end = Math.min(end, source.length);
        at = Math.min(start.getIndex(), this.end);
        line = start.getLine() + 1;
        column = start.getColumn() + 1;
    }

    /// The runs of a scalar, given the code points of the file.
    static List<Node.Run> of(int[] source, ScalarEvent scalar) {
        Mark start = scalar.getStartMark().orElseThrow();
        int end = scalar.getEndMark().orElseThrow().getIndex();
        return new ScalarRuns(source, start, end).walk(scalar);
    }

    private List<Node.Run> walk(ScalarEvent scalar) {
        if (scalar.getAnchor().isPresent()) {
            skipWhile(false);
            skipWhile(true);
        }
        if (scalar.isDQuoted() || scalar.isSQuoted()) {
            advance(1);
        } else if (scalar.isLiteral() || scalar.isFolded()) {
            while (at < end && source[at] != '\n' && source[at] != '\r') {
                advance(1);
            }
            advance(1);
        }
        List<Node.Run> runs = new ArrayList<>();
        String value = scalar.getValue();
        TextPlace expected = null;
        for (int offset = 0; offset < value.length(); offset += Character.charCount(value.codePointAt(offset))) {
            boolean space = isSpace(value.codePointAt(offset));
            skipTo(space, scalar.isDQuoted());
            TextPlace place = place();
            if (!place.equals(expected)) {
                runs.add(new Node.Run(offset, place));
            }
            expected = place.right(1);
            advance(length(space, scalar));
        }
        skipTo(true, scalar.isDQuoted());
        if (!place().equals(expected)) {
            runs.add(new Node.Run(value.length(), place()));
        }
        return runs;
    }

    /// Goes to the source of the next character of the value: past line continuations, and past space if the
    /// character is not a space.
    private void skipTo(boolean space, boolean escapes) {
        while (at < end) {
            if (escapes && source[at] == '\\' && at + 1 < end && (source[at + 1] == '\n' || source[at + 1] == '\r')) {
                advance(2);
                skipWhile(true);
            } else if (!space && isSpace(source[at])) {
                advance(1);
            } else {
                return;
            }
        }
    }

    /// The number of code points of the source that make the next character of the value.
    private int length(boolean space, ScalarEvent scalar) {
        if (at >= end) {
            return 0;
        }
        if (scalar.isDQuoted() && source[at] == '\\') {
            return switch (at + 1 < end ? source[at + 1] : ' ') {
                case 'x' -> 4;
                case 'u' -> 6;
                case 'U' -> 10;
                default -> 2;
            };
        }
        if (space && !isSpace(source[at])) {
            return 0;
        }
        return scalar.isSQuoted() && source[at] == '\'' ? 2 : 1;
    }

    private void skipWhile(boolean space) {
        while (at < end && isSpace(source[at]) == space) {
            advance(1);
        }
    }

    private void advance(int codePoints) {
        for (int i = 0; i < codePoints && at < end; i++) {
            int codePoint = source[at++];
            if (codePoint == '\n' || codePoint == '\r' && !(at < source.length && source[at] == '\n')) {
                line++;
                column = 1;
            } else {
                column++;
            }
        }
    }

    private TextPlace place() {
        return new TextPlace(line, column);
    }

    private static boolean isSpace(int codePoint) {
        return codePoint == ' ' || codePoint == '\t' || codePoint == '\n' || codePoint == '\r';
    }
}
