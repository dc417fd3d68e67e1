package dev.onefold.cli.trial;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.verbs.Sides;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.Counts;
import dev.onefold.core.query.Answer;
import dev.onefold.load.TradeRiskTotals;
import java.util.ArrayList;
import java.util.List;

/// The engine's totals and counts beside the producer's own.
///
/// @param totals one for each roll-up
public record Comparison(List<Sides> totals, List<Count> counts) {
    public Comparison {
        totals = List.copyOf(totals);
        counts = List.copyOf(counts);
    }

    /// The counts of both sides under one name.
    public record Count(String name, long engine, long producer) {
        boolean isEqual() {
            return engine == producer;
        }
    }

    public Comparison(Answer answer, List<Count> counts, TradeRiskTotals right) {
        this(List.of(new Sides("", Totals.of(answer), Totals.of(right))), counts);
    }

    /// Of an engine that has read the messages in the order they were made in.
    Comparison(Answer answer, Counts counts, TradeRiskTotals right) {
        this(answer, counts(counts, right.inOrder()), right);
    }

    private static List<Count> counts(Counts engine, TradeRiskTotals.InOrder right) {
        return List.of(
                new Count("accepted", engine.accepted(), right.accepted()),
                new Count("duplicate", engine.duplicate(), right.duplicate()),
                new Count("stale", engine.stale(), right.stale()),
                new Count("conflicting", engine.conflicting(), 0),
                new Count("malformed", engine.rejected(), right.malformed()));
    }

    boolean isEqual() {
        return totals.stream().allMatch(Sides::isEqual) && counts.stream().allMatch(Count::isEqual);
    }

    public ExitCode exitCode() {
        return isEqual() ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    /// The groups of all roll-ups.
    int groups() {
        return totals.stream()
                .mapToInt(each -> each.engine().all(each.right()).size())
                .sum();
    }

    /// The groups that differ, each in a line of its own.
    ///
    /// @param groupsMax limit of a roll-up
    List<String> differences(int groupsMax) {
        return totals.stream()
                .flatMap(each -> each.differences(groupsMax).stream())
                .toList();
    }

    /// The totals as tables, then the counts as one.
    ///
    /// @param groupsMax limit of a roll-up's table
    List<String> lines(Screen screen, int groupsMax) {
        List<String> lines = new ArrayList<>();
        totals.forEach(each -> lines.addAll(each.lines(screen, groupsMax, true)));
        if (!counts.isEmpty()) {
            Table table = new Table(List.of("", "engine", "producer", ""));
            counts.forEach(count -> table.add(List.of(
                    count.name(),
                    Words.count(count.engine()),
                    Words.count(count.producer()),
                    Sides.verdict(count.isEqual()))));
            lines.add("");
            table.text(Screen.WIDTH_DEFAULT, false).lines().forEach(line -> lines.add(Sides.coloured(screen, line)));
        }
        return lines;
    }

    /// All of it, with an empty line at the end.
    public String text(Screen screen) {
        return String.join("\n", lines(screen, Integer.MAX_VALUE)) + "\n";
    }
}
