package dev.onefold.cli.demo;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.verbs.Sides;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.Counts;
import dev.onefold.core.query.Answer;
import dev.onefold.load.TradeRiskTotals;
import java.util.List;

/// The engine's totals and counts beside the producer's own.
public record Comparison(Sides totals, List<Count> counts) {
    /// The counts of both sides under one name.
    public record Count(String name, long engine, long producer) {
        boolean isEqual() {
            return engine == producer;
        }
    }

    public Comparison(Answer answer, List<Count> counts, TradeRiskTotals right) {
        this(new Sides("", Totals.of(answer), Totals.of(right)), counts);
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
        return totals.isEqual() && counts.stream().allMatch(Count::isEqual);
    }

    public ExitCode exitCode() {
        return isEqual() ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    public String text(Screen screen) {
        Table table = new Table(List.of("", "engine", "producer", ""));
        counts.forEach(count -> table.add(List.of(
                count.name(),
                Words.count(count.engine()),
                Words.count(count.producer()),
                Sides.verdict(count.isEqual()))));
        StringBuilder text = new StringBuilder();
        totals.lines(screen, Integer.MAX_VALUE, true)
                .forEach(line -> text.append(line).append('\n'));
        text.append('\n');
        table.text(Screen.WIDTH_DEFAULT, false)
                .lines()
                .forEach(line -> text.append(Sides.coloured(screen, line)).append('\n'));
        return text.toString();
    }
}
