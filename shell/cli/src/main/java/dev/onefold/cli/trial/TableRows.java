package dev.onefold.cli.trial;

import dev.onefold.cli.show.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The rows of a function's table on both sides, each as JSON.
record TableRows(String name, Set<String> engine, Set<String> right) {
    /// The rows that one side alone has, each in a line of its own.
    List<String> differences(int rowsMax) {
        List<String> lines = new ArrayList<>();
        engine.stream()
                .filter(row -> !right.contains(row))
                .sorted()
                .forEach(row -> lines.add("Table " + name + " has a row that is not right: " + Words.visible(row)));
        right.stream()
                .filter(row -> !engine.contains(row))
                .sorted()
                .forEach(row -> lines.add("Table " + name + " lacks the row " + Words.visible(row)));
        if (lines.size() > rowsMax) {
            List<String> some = new ArrayList<>(lines.subList(0, rowsMax));
            some.add("and " + Words.count(lines.size() - rowsMax, "more row") + " of " + name + " that differ.");
            return some;
        }
        return lines;
    }
}
