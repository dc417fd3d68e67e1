package dev.onefold.cli.demo;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.query.Answer;
import dev.onefold.load.TradeRiskTotals;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The engine's totals and counts beside the producer's own.
record Comparison(Answer answer, List<Count> counts, TradeRiskTotals right) {
    private static final String EQUAL = "equal";
    private static final String DIFFERENT = "DIFFERENT";
    private static final String GREEN = "\033[32m";
    private static final String RED = "\033[1;31m";
    private static final String PLAIN = "\033[0m";

    /// The counts of both sides under one name.
    record Count(String name, long engine, long producer) {}

    /// The sums of one side for a group.
    private record Sums(BigDecimal value, BigDecimal trades) {}

    /// Of an engine that has read the messages in the order they were made in.
    Comparison(Answer answer, Counts counts, TradeRiskTotals right) {
        this(
                answer,
                List.of(
                        new Count("accepted", counts.accepted(), right.inOrder().accepted()),
                        new Count(
                                "duplicate", counts.duplicate(), right.inOrder().duplicate()),
                        new Count("stale", counts.stale(), right.inOrder().stale()),
                        new Count("conflicting", counts.conflicting(), 0),
                        new Count(
                                "malformed", counts.rejected(), right.inOrder().malformed())),
                right);
    }

    boolean isEqual() {
        return totals(Screen.pipe()).stream().noneMatch(line -> line.contains(DIFFERENT))
                && !countLines().contains(DIFFERENT);
    }

    String text(Screen screen) {
        String text = String.join("", totals(screen)) + "\n" + countLines();
        return screen.colour()
                ? text.replace(" " + EQUAL + "\n", " " + GREEN + EQUAL + PLAIN + "\n")
                        .replace(DIFFERENT + "\n", RED + DIFFERENT + PLAIN + "\n")
                : text;
    }

    private List<String> totals(Screen screen) {
        Map<List<String>, Sums> served =
                answer.lines().stream().collect(Collectors.toMap(Answer.Line::group, Comparison::served));
        Map<List<String>, Sums> expected =
                right.groups().stream().collect(Collectors.toMap(TradeRiskTotals.Group::path, Comparison::expected));
        TreeMap<List<String>, Boolean> groups = new TreeMap<>(Comparator.comparing(group -> String.join("\0", group)));
        served.keySet().forEach(group -> groups.put(group, true));
        expected.keySet().forEach(group -> groups.put(group, true));
        Table table = new Table(List.of("", "value", "producer's", "trades", "producer's", ""));
        for (List<String> group : groups.keySet()) {
            Sums mine = served.get(group);
            Sums theirs = expected.get(group);
            String label = group.isEmpty() ? "total" : " ".repeat(group.size()) + group.getLast();
            table.add(List.of(
                    label,
                    Words.number(mine == null ? null : mine.value()),
                    Words.number(theirs == null ? null : theirs.value()),
                    Words.number(mine == null ? null : mine.trades()),
                    Words.number(theirs == null ? null : theirs.trades()),
                    isSame(mine, theirs) ? EQUAL : DIFFERENT));
        }
        return table.text(screen.width(), false)
                .lines()
                .map(line -> line + "\n")
                .toList();
    }

    private static boolean isSame(@Nullable Sums mine, @Nullable Sums theirs) {
        return mine != null && mine.equals(theirs);
    }

    private static Sums served(Answer.Line line) {
        BigDecimal value = line.values().get(0);
        BigDecimal trades = line.values().get(1);
        return new Sums(value == null ? BigDecimal.ZERO : value, trades == null ? BigDecimal.ZERO : trades);
    }

    private static Sums expected(TradeRiskTotals.Group group) {
        return new Sums(BigDecimal.valueOf(group.cents(), 2), BigDecimal.valueOf(group.trades()));
    }

    private String countLines() {
        Table table = new Table(List.of("", "engine", "producer", ""));
        for (Count count : counts) {
            table.add(List.of(
                    count.name(),
                    Words.count(count.engine()),
                    Words.count(count.producer()),
                    count.engine() == count.producer() ? EQUAL : DIFFERENT));
        }
        return table.text(Screen.WIDTH_DEFAULT, false);
    }
}
