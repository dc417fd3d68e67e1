package dev.onefold.cli.show;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/// Rows of text in columns: the first on the left, of what the others leave; numbers on the right. When the columns
/// do not fit, each row becomes a paragraph, because a number is never cut. Not thread-safe.
public final class Table {
    private static final int GAP = 2;
    private static final int FIRST_WIDTH_MIN = 16;
    private static final int UNLIMITED = Integer.MAX_VALUE / 2;

    private final List<String> header;
    private final boolean[] left;
    private final int[] widths;
    private final List<List<String>> added = new ArrayList<>();
    private final Iterable<List<String>> rows;

    /// @param header one name for each column
    public Table(List<String> header) {
        this.header = List.copyOf(header);
        rows = added;
        left = new boolean[header.size()];
        left[0] = true;
        widths = new int[header.size()];
        widen(header);
    }

    /// A table of rows that are made when they are read: once for the widths of the columns, once to be written.
    ///
    /// @param header one name for each column
    public Table(List<String> header, Iterable<List<String>> rows) {
        this.header = List.copyOf(header);
        this.rows = rows;
        left = new boolean[header.size()];
        left[0] = true;
        widths = new int[header.size()];
        widen(header);
        rows.forEach(this::widen);
    }

    /// Puts a column's text on the left.
    public Table left(int column) {
        left[column] = true;
        return this;
    }

    /// Adds a row: one printable text for each column.
    public void add(List<String> cells) {
        added.add(List.copyOf(cells));
        widen(cells);
    }

    public boolean isEmpty() {
        return !rows.iterator().hasNext();
    }

    private void widen(List<String> cells) {
        for (int column = 0; column < widths.length; column++) {
            widths[column] = Math.max(widths[column], Width.of(cells.get(column)));
        }
    }

    /// The table in lines that end with a line feed.
    ///
    /// @param width columns there are
    /// @param cut whether the first column may be cut to fit; else a line may be longer
    public String text(int width, boolean cut) {
        StringBuilder text = new StringBuilder();
        write(text::append, width, cut);
        return text.toString();
    }

    /// Hands the same lines on one by one.
    public void write(Consumer<String> lines, int width, boolean cut) {
        StringBuilder text = new StringBuilder();
        int others =
                Arrays.stream(widths, 1, widths.length).map(each -> each + GAP).sum();
        int first = Math.min(widths[0], Math.max(width - others, 0));
        if (first < Math.min(widths[0], FIRST_WIDTH_MIN)) {
            rows.forEach(row -> hand(lines, appendParagraph(text, row)));
            return;
        }
        hand(lines, appendRow(text, header, first, cut));
        rows.forEach(row -> hand(lines, appendRow(text, row, first, cut)));
    }

    private static void hand(Consumer<String> lines, StringBuilder text) {
        lines.accept(text.toString());
        text.setLength(0);
    }

    private StringBuilder appendRow(StringBuilder text, List<String> row, int first, boolean cut) {
        int start = text.length();
        text.append(Width.cut(row.getFirst(), cut ? first : UNLIMITED));
        int used = Width.of(text.substring(start));
        int end = first;
        for (int column = 1; column < row.size(); column++) {
            end += GAP + widths[column];
            int cell = Width.of(row.get(column));
            int pad = left[column] ? end - widths[column] - used : end - cell - used;
            text.repeat(' ', Math.max(GAP, pad)).append(row.get(column));
            used += Math.max(GAP, pad) + cell;
        }
        while (text.charAt(text.length() - 1) == ' ') {
            text.setLength(text.length() - 1);
        }
        return text.append('\n');
    }

    private StringBuilder appendParagraph(StringBuilder text, List<String> row) {
        String label = row.getFirst();
        text.append(label).append('\n');
        String indent = " ".repeat(label.length() - label.stripLeading().length() + GAP);
        int names = header.stream().skip(1).mapToInt(Width::of).max().orElse(0);
        for (int column = 1; column < row.size(); column++) {
            String name = header.get(column);
            text.append(indent)
                    .append(name)
                    .repeat(' ', names - Width.of(name) + GAP)
                    .append(row.get(column))
                    .append('\n');
        }
        return text;
    }
}
