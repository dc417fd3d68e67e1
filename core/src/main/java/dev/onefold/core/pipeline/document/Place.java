package dev.onefold.core.pipeline.document;

import java.util.Comparator;

/// A place in a text: line and column from 1, a column being one code point.
public record Place(int line, int column) implements Comparable<Place> {
    public static final Place START = new Place(1, 1);

    private static final Comparator<Place> ORDER =
            Comparator.comparingInt(Place::line).thenComparingInt(Place::column);

    public Place {
        if (line < 1 || column < 1) {
            throw new IllegalArgumentException("Lines and columns start at 1, not at " + line + ":" + column);
        }
    }

    /// The place so many columns further on the same line.
    public Place right(int columns) {
        return new Place(line, column + columns);
    }

    @Override
    public int compareTo(Place other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return line + ":" + column;
    }
}
