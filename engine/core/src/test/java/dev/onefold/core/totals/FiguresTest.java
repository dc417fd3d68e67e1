package dev.onefold.core.totals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Formula.Operator;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The figures that answers calculate from measures.
class FiguresTest {
    private static final MathContext MANY_DIGITS = new MathContext(600, RoundingMode.HALF_EVEN);
    private static final MathContext FEWER_DIGITS = new MathContext(500, RoundingMode.HALF_EVEN);

    private static @Nullable BigDecimal value(String formula, @Nullable String a, @Nullable String b) {
        Rollup rollup = Rollups.of(PipelineBuilder.named("p")
                        .rollup(r -> r.max("a", "a", 18, 2)
                                .max("b", "b", 18, 2)
                                .count("n")
                                .measure("half", "n / 2 decimal(9,0)")
                                .measure("f", formula))
                        .build())
                .named("main");
        List<@Nullable BigDecimal> measures = new ArrayList<>();
        for (Measure measure : rollup.measures()) {
            measures.add(
                    switch (measure.name()) {
                        case "a" -> a == null ? null : new BigDecimal(a);
                        case "b" -> b == null ? null : new BigDecimal(b);
                        default -> new BigDecimal("3");
                    });
        }
        return new Figures(rollup).of(measures).getLast();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a + b * 2 | 5.00",
                "(a + b) * 2 | 6.00",
                "a - b - 1 | -2.00",
                "a - (b - 1) | 0.00",
                "a * b * 0.5 | 1.00000",
                "12 / a / b decimal(9,2) | 6.00",
                "12 / (a / b) decimal(9,2) | 24.00",
                "a / n * n decimal(9,9) | 1.000000000",
                "1 - a / n decimal(9,4) | 0.6667",
                "a / 2 decimal(9,0) | 0",
                "b * 1.5 / 2 decimal(9,0) | 2",
                "(b + n) / 2 decimal(9,0) | 2",
                "n + n / 2 decimal(9,0) | 4",
                "half + half | 4",
                "half * 3 / 2 decimal(9,0) | 3",
                "(n + 0.5) decimal(9,0) | 4",
                "n - -1 | 4",
                "0 + 'n' | 3",
                "count() + n | 6",
                "0 * a | 0.00",
                "0.50 * n | 1.5",
                "-1.5 + n | 1.5",
            })
    void operators_bind_as_usual_and_the_value_is_rounded_once(String formula, String expected) {
        assertThat(value(formula, "1.00", "2.00")).isEqualTo(expected);
    }

    @Test
    void without_an_operand_and_after_a_division_by_zero_there_is_no_value() {
        assertThat(value("0 * a", null, "2.00")).isNull();
        assertThat(value("n + a * b", "1.00", null)).isNull();
        assertThat(value("a / b decimal(9,2)", "1.00", "0.00")).isNull();
        assertThat(value("0 * (a / (b - b)) decimal(9,2)", "1.00", "2.00")).isNull();
        assertThat(value("a / b decimal(9,2)", "0.00", "2.00")).isEqualTo("0.00");
    }

    @Test
    void a_value_may_have_more_digits_than_its_type() {
        assertThat(value("a * a * a decimal(3,2)", "9999999999999999.99", "1.00"))
                .isEqualTo(new BigDecimal("9999999999999999.99").pow(3).setScale(2, RoundingMode.HALF_EVEN));
    }

    /// The plain form calculates with so many digits that no value of these formulas lies nearer to the middle between
    /// two neighbours than they tell, but in it.
    @Test
    void formulas_come_to_what_plain_decimals_come_to() {
        Seeds.forAllSeeds(2_000, random -> {
            Formula formula = random(random, 4);
            BigDecimal[] values = new BigDecimal[3];
            List<@Nullable BigDecimal> given = new ArrayList<>();
            for (int i = 0; i < values.length; i++) {
                values[i] = random.nextInt(5) == 0
                        ? BigDecimal.ZERO.setScale(2)
                        : BigDecimal.valueOf(random.nextLong(-9_999_999, 9_999_999), 2);
                given.add(values[i]);
            }
            List<Figure> figures = new ArrayList<>();
            List.of("a", "b", "c").forEach(name -> figures.add(new Figure.Stored(sum(name))));
            int scale = random.nextInt(12);
            figures.add(new Figure.Derived("f", formula, new dev.onefold.core.pipeline.DecimalType(38, scale)));
            BigDecimal plain = plain(formula, values);
            assertThat(new Figures(Rollup.of("main", List.of(), figures))
                            .of(given)
                            .getLast())
                    .isEqualTo(
                            plain == null ? null : plain.round(FEWER_DIGITS).setScale(scale, RoundingMode.HALF_EVEN));
        });
    }

    private static Measure sum(String field) {
        return Rollups.of(PipelineBuilder.named("p")
                        .rollup(r -> r.sum(field, field, 18, 2))
                        .build())
                .all()
                .getFirst()
                .measures()
                .getFirst();
    }

    private static Formula random(RandomGenerator random, int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            return switch (random.nextInt(4)) {
                case 0 ->
                    new Formula.Number(BigDecimal.valueOf(random.nextInt(-20, 20), random.nextInt(3))
                            .stripTrailingZeros());
                case 1 -> new Formula.Of(sum("b").named(""));
                default -> new Formula.Named(List.of("a", "b", "c").get(random.nextInt(3)));
            };
        }
        Operator operator = List.of(Operator.values()).get(random.nextInt(4));
        return new Formula.Operation(operator, random(random, depth - 1), random(random, depth - 1));
    }

    private static @Nullable BigDecimal plain(Formula formula, BigDecimal[] values) {
        return switch (formula) {
            case Formula.Number(BigDecimal value) -> value;
            case Formula.Named(String name) -> values[name.charAt(0) - 'a'];
            case Formula.Of _ -> values[1];
            case Formula.Operation operation -> {
                BigDecimal left = plain(operation.left(), values);
                BigDecimal right = plain(operation.right(), values);
                if (left == null || right == null) {
                    yield null;
                }
                yield switch (operation.operator()) {
                    case PLUS -> left.add(right, MANY_DIGITS);
                    case MINUS -> left.subtract(right, MANY_DIGITS);
                    case TIMES -> left.multiply(right, MANY_DIGITS);
                    case OVER -> right.signum() == 0 ? null : left.divide(right, MANY_DIGITS);
                };
            }
        };
    }
}
