package dev.onefold.simulator.judge;

import dev.onefold.core.Engine;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.oracle.Oracle;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// Holds an engine's answers against the oracle's totals.
public final class Judge {
    private Judge() {}

    /// What is wrong with the totals of an engine; empty if nothing is.
    public static String wrongTotals(Engine engine, Oracle oracle) {
        StringBuilder wrong = new StringBuilder();
        for (String rollup : oracle.rollups()) {
            wrong.append(wrongAnswer(engine.query(Query.all(rollup)), oracle));
        }
        return wrong.toString();
    }

    /// What is wrong with an answer about all of a roll-up; empty if nothing is.
    public static String wrongAnswer(Answer answer, Oracle oracle) {
        SortedMap<List<String>, Map<String, @Nullable String>> right = oracle.totals(answer.rollup());
        Map<List<String>, Map<String, @Nullable String>> served = new LinkedHashMap<>();
        for (Answer.Line line : answer.lines()) {
            Map<String, @Nullable String> figures = new LinkedHashMap<>();
            for (int i = 0; i < answer.measures().size(); i++) {
                BigDecimal value = line.values().get(i);
                figures.put(answer.measures().get(i), value == null ? null : value.toPlainString());
            }
            served.put(line.group(), figures);
        }
        boolean isRight = List.copyOf(served.keySet()).equals(List.copyOf(right.keySet())) && served.equals(right);
        return isRight ? "" : "roll-up " + answer.rollup() + " is " + served + "\n but must be " + right + "\n";
    }
}
