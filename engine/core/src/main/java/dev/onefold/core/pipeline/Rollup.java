package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A tree of groups with measures at each node. A single unnamed roll-up is called `main`.
///
/// @param measures the stored ones: those that answers show, then those of formulas alone, whose names are
///     empty
/// @param figures the columns of answers, in the order of the file
/// @param keep for how long a group of the first level, a time bucket, is kept behind the latest time; `null`:
///     for
///     ever
public record Rollup(
        String name,
        List<Level> levels,
        List<Measure> measures,
        List<Figure> figures,
        @Nullable Duration keep) {
    public static final String MAIN = "main";

    public Rollup {
        levels = List.copyOf(levels);
        measures = List.copyOf(measures);
        figures = List.copyOf(figures);
    }

    /// One whose answers show its measures as they are.
    public Rollup(String name, List<Level> levels, List<Measure> measures) {
        this(
                name,
                levels,
                measures,
                measures.stream().<Figure>map(Figure.Stored::new).toList(),
                null);
    }

    /// The same that is kept for a time; `null`: for ever.
    public Rollup kept(@Nullable Duration time) {
        return new Rollup(name, levels, measures, figures, time);
    }

    /// A roll-up that stores the measures of its figures; a measure that several formulas use is stored once.
    public static Rollup of(String name, List<Level> levels, List<Figure> figures) {
        List<Measure> measures = new ArrayList<>();
        figures.forEach(figure -> {
            if (figure instanceof Figure.Stored(Measure measure)) {
                measures.add(measure);
            }
        });
        figures.forEach(figure -> {
            if (figure instanceof Figure.Derived derived) {
                derived.formula().forEachOperand(operand -> {
                    if (operand instanceof Formula.Of(Measure measure) && find(measures, measure) < 0) {
                        measures.add(measure);
                    }
                });
            }
        });
        return new Rollup(name, levels, measures, figures, null);
    }

    private static int find(List<Measure> measures, Measure wanted) {
        for (int i = 0; i < measures.size(); i++) {
            if (measures.get(i).named("").equals(wanted.named(""))) {
                return i;
            }
        }
        return -1;
    }

    /// The place of the first measure that has the same value, whatever its name; -1 if there is none.
    public int find(Measure wanted) {
        return find(measures, wanted);
    }

    /// The names of the figures.
    public List<String> figureNames() {
        return figures.stream().map(Figure::name).toList();
    }

    /// The same as editions before the third read it: see [Condition#inTexts].
    Rollup inTexts() {
        return of(name, levels, figures.stream().map(Figure::inTexts).toList()).kept(keep);
    }

    /// The same without formulas.
    Rollup stored() {
        return new Rollup(name, levels, measures).kept(keep);
    }
}
