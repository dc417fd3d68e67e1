package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a figure: a measure, which is a function of the fields of records, or a formula over measures.
///
/// @param time the time of an event; `null` if it has none, or it is not known
record MeasureReader(FieldGrammar fields, @Nullable EventTime time) {
    private static final List<String> FUNCTIONS = Stream.concat(
                    Stream.concat(
                            Stream.of("count"), Stream.of(Measure.Fold.values()).map(Measure.Fold::word)),
                    Stream.of("distinct"))
            .toList();
    private static final String TYPE_ADVICE = "write decimal(precision,scale): digits in all, 1 to "
            + Limits.SUM_DIGITS_MAX + ", and digits after the point, 0 to precision";

    /// Reads the whole text as a figure: a measure, or a formula.
    ///
    /// @param names of the other figures of the roll-up
    Figure read(String name, List<String> names, Expression expression) {
        int start = expression.offset();
        boolean isOperand = expression.isNext("(\"'-.0123456789");
        String word = expression.word();
        boolean isCall = !word.isEmpty() && expression.isNext("(") || FUNCTIONS.contains(word) && !names.contains(word);
        boolean isFormula = isOperand
                || !isCall
                        && (names.contains(word)
                                || expression.isNext(FormulaParser.OPERATORS)
                                || expression.isNextWord("decimal"));
        if (!isFormula && word.isEmpty()) {
            throw expression.refuse("is no measure", "write one like count() or sum(Value) decimal(18,2)");
        }
        expression.back(start);
        if (isFormula) {
            return formula(name, names, null, expression);
        }
        Measure measure = call(name, expression);
        if (expression.isNext(FormulaParser.OPERATORS)) {
            return formula(name, names, measure.named(""), expression);
        }
        expression.end(endOf(measure));
        return new Figure.Stored(measure);
    }

    private Figure formula(String name, List<String> names, @Nullable Measure first, Expression expression) {
        Formula formula = new FormulaParser(expression, names, text -> call("", text)).parse(first);
        if (formula.divides() && !expression.isNextWord("decimal")) {
            throw expression.refuse("needs a type, because a quotient may have no end", TYPE_ADVICE);
        }
        DecimalType type = expression.isNextWord("decimal") ? decimalType(expression) : null;
        expression.end("a formula has +, -, *, / and parentheses, and may end with decimal(precision,scale)");
        return new Figure.Derived(name, formula, type);
    }

    private static String endOf(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> "write count() or count() where …";
            case Measure.Distinct distinct
            when distinct.input().where() == null ->
                "it may end with: missing ignore, or missing \"text\", then where …";
            case Measure.Numeric numeric
            when numeric.input().where() == null -> "it may end with: missing ignore, or missing 0, then where …";
            case Measure.Distinct _, Measure.Numeric _ -> ConditionParser.JOIN_ADVICE;
        };
    }

    private Measure call(String name, Expression expression) {
        String word = expression.oneOf(FUNCTIONS, RollupReader.NO_FUNCTION);
        expression.expect('(', "write " + (word.equals("count") ? "count()" : word + "(field)"));
        return switch (word) {
            case "count" -> {
                expression.expect(')', "count counts rows and takes no field: write count()");
                Condition where = where(expression);
                yield where == null
                        ? new Measure.Count(name)
                        : new Measure.Numeric(name, Measure.Fold.SUM, Measure.Input.Decimal.counting(where));
            }
            case "distinct" -> new Measure.Distinct(name, textInput(expression));
            default -> {
                Measure.Fold fold = fold(word);
                yield new Measure.Numeric(name, fold, decimalInput(expression, fold));
            }
        };
    }

    private static Measure.Fold fold(String word) {
        return Stream.of(Measure.Fold.values())
                .filter(fold -> fold.word().equals(word))
                .findFirst()
                .orElseThrow();
    }

    private @Nullable Condition where(Expression expression) {
        return expression.takeWord("where") ? ConditionParser.next(expression, fields) : null;
    }

    private Measure.Input.Text textInput(Expression expression) {
        FieldPath field = fields.read(expression);
        expression.refuseArithmetic("");
        close(expression);
        return new Measure.Input.Text(
                field,
                missing(
                        expression,
                        "write missing ignore, or a text in quotes: missing \"none\"",
                        Expression::quotedText),
                where(expression));
    }

    private Measure.Input.Decimal decimalInput(Expression expression, Measure.Fold fold) {
        boolean ordered = fold == Measure.Fold.MIN || fold == Measure.Fold.MAX;
        Measure.Source source = source(expression, ordered);
        close(expression);
        boolean typed = expression.isNextWord("decimal");
        if (ordered && !typed && time != null && source.equals(new Measure.Source.Product(List.of(time.field())))) {
            source = new Measure.Source.Time(time.field(), time.type());
        }
        DecimalType type =
                source instanceof Measure.Source.Time && !typed ? Measure.Source.Time.SECONDS : decimalType(expression);
        int start = expression.offset();
        Measure.Missing<BigDecimal> missing =
                missing(expression, "write missing ignore, or a number: missing 0", Expression::number);
        BigDecimal value = missing.value();
        if (value != null && value.signum() != 0 && !fits(value, type)) {
            throw expression.refuseFrom(
                    start,
                    "is no " + type,
                    String.format(
                            Locale.ROOT,
                            "at most %d digits before the point, %d after it, and %d in all are possible",
                            type.precision() - type.scale(),
                            type.scale(),
                            type.valueDigitsMax()));
        }
        return new Measure.Input.Decimal(source, type, missing, where(expression));
    }

    /// Takes the content of the parentheses of a function of numbers.
    private Measure.Source source(Expression expression, boolean ordered) {
        int start = expression.offset();
        List<FieldPath> factors = new ArrayList<>();
        do {
            factors.add(fields.factor(expression));
        } while (expression.take('*'));
        if (factors.size() > Limits.FACTORS_MAX) {
            throw expression.refuseFrom(
                    start, "has " + factors.size() + " factors", "at most " + Limits.FACTORS_MAX + " are possible");
        }
        expression.refuseArithmetic(Expression.TIMES);
        if (ordered && factors.size() == 1 && expression.take(',')) {
            return new Measure.Source.Time(factors.getFirst(), PipelineReader.timeType(expression));
        }
        return new Measure.Source.Product(factors);
    }

    private static void close(Expression expression) {
        expression.expect(
                ')', "close the parenthesis after the field; a name with other characters is in double quotes");
    }

    private static boolean fits(BigDecimal value, DecimalType type) {
        return value.scale() <= type.scale()
                && value.precision() - value.scale() <= type.precision() - type.scale()
                && Math.max(value.precision(), value.precision() - value.scale()) <= type.valueDigitsMax();
    }

    private static DecimalType decimalType(Expression expression) {
        if (!expression.takeWord("decimal")) {
            throw expression.refuse("is unexpected, expected the type of the number", TYPE_ADVICE);
        }
        expression.expect('(', TYPE_ADVICE);
        int precision = expression.wholeNumber(1, Limits.SUM_DIGITS_MAX);
        expression.expect(',', TYPE_ADVICE);
        int scale = expression.wholeNumber(0, precision);
        expression.expect(')', TYPE_ADVICE);
        return new DecimalType(precision, scale);
    }

    private static <T> Measure.Missing<T> missing(
            Expression expression, String right, Function<Expression, @Nullable T> literal) {
        if (!expression.takeWord("missing")) {
            return Measure.Missing.refuse();
        }
        if (expression.takeWord("ignore")) {
            return Measure.Missing.ignore();
        }
        T value = literal.apply(expression);
        if (value == null) {
            throw expression.refuse("cannot stand in for a missing value", right);
        }
        return Measure.Missing.take(value);
    }
}
