package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/// The engine's totals beside those that are right, group by group.
///
/// @param rollup its name; empty if it is the only one
public record Sides(String rollup, Totals engine, Totals right) {
    private static final String EQUAL = "equal";
    private static final String DIFFERENT = "DIFFERENT";
    private static final String GREEN = "\033[32m";
    private static final String RED = "\033[1;31m";
    private static final String PLAIN = "\033[0m";

    /// Whether nothing differs.
    public boolean isEqual() {
        return engine.differences(right).isEmpty();
    }

    /// The first groups of both sides as a table.
    ///
    /// @param groupsMax how many groups are shown; the others are counted
    /// @param judges whether the last column says which are equal: totals that still move need not be
    public List<String> lines(Screen screen, int groupsMax, boolean judges) {
        List<List<String>> groups = engine.all(right);
        List<String> header = new ArrayList<>(List.of(rollup));
        for (String measure : engine.measures()) {
            header.add(Words.visible(measure));
            header.add("producer's");
        }
        header.add("");
        Table table = new Table(header);
        groups.stream().limit(groupsMax).forEach(group -> table.add(cells(group, judges)));
        List<String> lines = new ArrayList<>(table.text(screen.width(), screen.outIsTerminal())
                .lines()
                .map(line -> coloured(screen, line.stripTrailing()))
                .toList());
        if (groups.size() > groupsMax) {
            lines.add("and " + Words.count(groups.size() - groupsMax, "more group"));
        }
        return lines;
    }

    /// The last column of a row that is judged.
    public static String verdict(boolean isEqual) {
        return isEqual ? EQUAL : DIFFERENT;
    }

    /// A line with its verdict in colour, where the screen has colours.
    public static String coloured(Screen screen, String line) {
        if (!screen.colour()) {
            return line;
        }
        return line.replaceFirst(" " + EQUAL + "$", " " + GREEN + EQUAL + PLAIN)
                .replaceFirst(" " + DIFFERENT + "$", " " + RED + DIFFERENT + PLAIN);
    }

    private List<String> cells(List<String> group, boolean judges) {
        List<String> cells = new ArrayList<>();
        cells.add(group.isEmpty() ? "total" : " ".repeat(group.size()) + Words.group(group.getLast()));
        for (int i = 0; i < engine.measures().size(); i++) {
            int theirs = right.measures().indexOf(engine.measures().get(i));
            cells.add(Words.number(engine.value(group, i)));
            cells.add(theirs < 0 ? "" : Words.number(right.value(group, theirs)));
        }
        cells.add(!judges ? "" : verdict(engine.isSame(right, group)));
        return cells;
    }

    /// The groups that differ, each in a line of its own with the values of both sides.
    public List<String> differences(int groupsMax) {
        List<List<String>> differ = engine.differences(right);
        List<String> lines = new ArrayList<>();
        for (List<String> group : differ.subList(0, Math.min(groupsMax, differ.size()))) {
            String name = group.isEmpty() ? "The grand total" : "Group " + Words.path(group);
            lines.add(name + (rollup.isEmpty() ? "" : " of " + rollup) + ": " + difference(group) + ".");
        }
        if (differ.size() > groupsMax) {
            lines.add("and " + Words.count(differ.size() - groupsMax, "more group") + " that differ.");
        }
        return lines;
    }

    private String difference(List<String> group) {
        if (!right.groups().containsKey(group)) {
            return "the producer has no such group; here it has " + values(engine, group);
        }
        if (!engine.groups().containsKey(group)) {
            return "it is not here; the producer has " + values(right, group);
        }
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < engine.measures().size(); i++) {
            String measure = engine.measures().get(i);
            BigDecimal here = engine.value(group, i);
            BigDecimal there = right.value(group, right.measures().indexOf(measure));
            if (here == null || there == null || here.compareTo(there) != 0) {
                parts.add(Words.visible(measure) + " is " + Words.number(here) + ", and the producer's "
                        + Words.number(there));
            }
        }
        return String.join("; ", parts);
    }

    private static String values(Totals totals, List<String> group) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < totals.measures().size(); i++) {
            values.add(Words.visible(totals.measures().get(i)) + " " + Words.number(totals.value(group, i)));
        }
        return String.join(", ", values);
    }
}
