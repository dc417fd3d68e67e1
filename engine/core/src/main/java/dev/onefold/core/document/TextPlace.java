package dev.onefold.core.document;

import java.util.Comparator;

/// A place in a text: line and column from 1, a column being one code point.
public record TextPlace(int line, int column) implements Comparable<TextPlace> {
    public static final TextPlace START = new TextPlace(1, 1);

    private static final Comparator<TextPlace> ORDER =
            Comparator.comparingInt(TextPlace::line).thenComparingInt(TextPlace::column);

    public TextPlace {
        if (line < 1 || column < 1) {
            throw new IllegalArgumentException("Lines and columns start at 1, not at " + line + ":" + column);
        }
    }

    /// The place this number of columns further on the same line.
    public TextPlace right(int columns) {
        return new TextPlace(line, column + columns);
    }

    @Override
    public int compareTo(TextPlace other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return line + ":" + column;
    }
}
