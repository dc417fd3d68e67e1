package dev.onefold.core.totals;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Computes the figures of a group from its rows and sums alone, for a roll-up without measures that are made of
/// values. Immutable.
public final class CellAnswers {
    private final Rollup rollup;
    private final Figures figures;

    /// @throws IllegalArgumentException if a measure is made of values
    public CellAnswers(Rollup rollup) {
        if (!isEnough(rollup)) {
            throw new IllegalArgumentException("Roll-up " + rollup.name() + " has a min, max or distinct");
        }
        this.rollup = rollup;
        figures = new Figures(rollup);
    }

    /// Whether rows and sums are all that a roll-up shows.
    public static boolean isEnough(Rollup rollup) {
        return rollup.measures().stream()
                .allMatch(measure -> measure instanceof Measure.Count
                        || measure instanceof Measure.Numeric numeric
                                && numeric.fold().isSummed());
    }

    /// The values of all figures.
    ///
    /// @param cell of a group, as [Cells] has it
    public List<@Nullable BigDecimal> of(long[] cell) {
        List<@Nullable BigDecimal> answers = new ArrayList<>();
        int at = 1;
        for (Measure measure : rollup.measures()) {
            if (measure instanceof Measure.Numeric) {
                answers.add(new Aggregate.Parts(cell[0], Cells.integer(cell[at], cell[at + 1]), cell[at + 2], null)
                        .answer(measure));
                at += 3;
            } else {
                answers.add(new Aggregate.Parts(cell[0], BigInteger.ZERO, 0, null).answer(measure));
            }
        }
        return figures.of(answers);
    }
}
