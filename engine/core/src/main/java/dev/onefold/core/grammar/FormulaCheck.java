package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Rollup;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Refuses formulas that are each right and do not go together: a formula that needs its own value, formulas of
/// formulas that grow beyond the limit, and more measures inside of them than a roll-up may have. Not thread-safe.
final class FormulaCheck {
    private static final int IN_WORK = -1;
    private static final int CIRCLE = Limits.OPERANDS_MAX + 2;

    private final Map<String, Figure> figures = new HashMap<>();
    private final Map<String, Integer> operands = new HashMap<>();
    private final int measures;

    /// @param figures of one roll-up
    FormulaCheck(List<Figure> figures) {
        figures.forEach(figure -> this.figures.put(figure.name(), figure));
        measures = Rollup.of("", List.of(), figures).measures().size();
    }

    /// @param entries of the setting
    void refuseWrong(Setting setting, List<Node.Entry> entries) {
        entries.forEach(entry -> {
            String name = entry.name().text();
            int count = operands(name);
            if (count == CIRCLE) {
                setting.entry(entry)
                        .refuse(name, "needs its own value", "a formula names measures that do not name it");
            } else if (count > Limits.OPERANDS_MAX) {
                setting.entry(entry)
                        .refuse(
                                name,
                                "has too many operands, with those of the formulas that it names",
                                "at most " + Limits.OPERANDS_MAX + " are possible");
            }
        });
        if (measures > Limits.MEASURES_MAX && figures.size() <= Limits.MEASURES_MAX) {
            setting.refuse(
                    "",
                    "has " + measures + " measures, with those inside of formulas",
                    "at most " + Limits.MEASURES_MAX + " are possible");
        }
    }

    private int operands(String name) {
        Integer known = operands.get(name);
        if (known != null) {
            return known == IN_WORK ? CIRCLE : known;
        }
        int[] count = {1};
        if (figures.get(name) instanceof Figure.Derived derived) {
            operands.put(name, IN_WORK);
            count[0] = 0;
            derived.formula()
                    .forEachOperand(operand -> count[0] =
                            plus(count[0], operand instanceof Formula.Named(String other) ? operands(other) : 1));
        }
        operands.put(name, count[0]);
        return count[0];
    }

    /// The sum of both, at most one more than the limit; [#CIRCLE] if one of them is that.
    private static int plus(int one, int other) {
        return one == CIRCLE || other == CIRCLE ? CIRCLE : Math.min(one + other, Limits.OPERANDS_MAX + 1);
    }
}
