package dev.onefold.core.totals;

import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Computes the figures in a roll-up's answers from its stored measures. A formula is calculated exactly, as a
/// fraction, from the values that answers show, and rounded once, half-even, to the scale of its type; without a
/// type it does not divide, and is exact. It has no value where an operand has none, and where it divides by
/// zero. Immutable.
final class Figures {
    private final Rollup rollup;
    private final List<String> names;
    private final int[] scales;
    private final int[] places; // Of the measures of stored figures.
    private final List<Function<IntFunction<@Nullable BigDecimal>, @Nullable Fraction>> formulas = new ArrayList<>();

    Figures(Rollup rollup) {
        this.rollup = rollup;
        names = rollup.figureNames();
        scales = new int[names.size()];
        Arrays.fill(scales, -1);
        places = new int[names.size()];
        Arrays.fill(places, -1);
        for (int figure = 0; figure < scales.length; figure++) {
            scale(figure);
            switch (rollup.figures().get(figure)) {
                case Figure.Stored(Measure measure) -> {
                    places[figure] = rollup.measures().indexOf(measure);
                    formulas.add(stored(places[figure]));
                }
                case Figure.Derived derived -> formulas.add(compiled(derived.formula()));
            }
        }
    }

    private int scale(int figure) {
        if (scales[figure] < 0) {
            scales[figure] = switch (rollup.figures().get(figure)) {
                case Figure.Stored(Measure measure) -> scale(measure);
                case Figure.Derived derived -> {
                    DecimalType type = derived.type();
                    yield type == null ? scale(derived.formula()) : type.scale();
                }
            };
        }
        return scales[figure];
    }

    private static int scale(Measure measure) {
        return measure instanceof Measure.Numeric numeric
                ? numeric.input().type().scale()
                : 0;
    }

    private int scale(Formula formula) {
        return switch (formula) {
            case Formula.Number(BigDecimal value) -> Math.max(0, value.scale());
            case Formula.Named(String name) -> scale(names.indexOf(name));
            case Formula.Of(Measure measure) -> scale(measure);
            case Formula.Operation operation -> {
                int left = scale(operation.left());
                int right = scale(operation.right());
                yield operation.operator() == Formula.Operator.TIMES ? left + right : Math.max(left, right);
            }
        };
    }

    private static Function<IntFunction<@Nullable BigDecimal>, @Nullable Fraction> stored(int measure) {
        return measures -> Fraction.of(measures.apply(measure));
    }

    private Function<IntFunction<@Nullable BigDecimal>, @Nullable Fraction> compiled(Formula formula) {
        return switch (formula) {
            case Formula.Number(BigDecimal value) -> _ -> Fraction.of(value);
            case Formula.Named(String name) -> {
                int figure = names.indexOf(name);
                yield measures -> Fraction.of(value(figure, measures));
            }
            case Formula.Of(Measure measure) -> stored(rollup.find(measure));
            case Formula.Operation operation -> {
                var left = compiled(operation.left());
                var right = compiled(operation.right());
                yield measures -> {
                    Fraction one = left.apply(measures);
                    Fraction other = one == null ? null : right.apply(measures);
                    return one == null || other == null ? null : one.joined(operation.operator(), other);
                };
            }
        };
    }

    /// The values of all figures.
    ///
    /// @param measures the value of each measure of the roll-up; `null` where there is none
    List<@Nullable BigDecimal> of(List<@Nullable BigDecimal> measures) {
        List<@Nullable BigDecimal> values = new ArrayList<>(names.size());
        for (int figure = 0; figure < names.size(); figure++) {
            values.add(value(figure, measures::get));
        }
        return values;
    }

    /// The value of one figure; `null` if it has none.
    ///
    /// @param measures gives the value of a measure by its place in the roll-up
    @Nullable
    BigDecimal value(int figure, IntFunction<@Nullable BigDecimal> measures) {
        if (places[figure] >= 0) {
            return measures.apply(places[figure]);
        }
        Fraction exact = formulas.get(figure).apply(measures);
        return exact == null ? null : exact.rounded(scales[figure]);
    }

    /// A number that may have no end as a decimal.
    ///
    /// @param under not zero
    private record Fraction(BigDecimal over, BigDecimal under) {
        static @Nullable Fraction of(@Nullable BigDecimal value) {
            return value == null ? null : new Fraction(value, BigDecimal.ONE);
        }

        BigDecimal rounded(int scale) {
            return over.divide(under, scale, RoundingMode.HALF_EVEN);
        }

        @Nullable
        Fraction joined(Formula.Operator operator, Fraction other) {
            return switch (operator) {
                case PLUS ->
                    new Fraction(
                            over.multiply(other.under).add(other.over.multiply(under)), under.multiply(other.under));
                case MINUS ->
                    new Fraction(
                            over.multiply(other.under).subtract(other.over.multiply(under)),
                            under.multiply(other.under));
                case TIMES -> new Fraction(over.multiply(other.over), under.multiply(other.under));
                case OVER ->
                    other.over.signum() == 0
                            ? null
                            : new Fraction(over.multiply(other.under), under.multiply(other.over));
            };
        }
    }
}
