package dev.onefold.core.grammar;

import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Formula.Operator;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads a formula: numbers, names of other figures, measures and parentheses, joined by `*` and `/`, and
/// these by `+` and `-`. Not thread-safe.
final class FormulaParser {
    static final String OPERATORS = "+-*/";

    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    private final Expression expression;
    private final List<String> names;
    private final Function<Expression, Measure> call;
    private final List<Formula> operands = new ArrayList<>();
    private int depth;

    /// @param names of the other figures of the roll-up
    /// @param call takes a measure without a name
    FormulaParser(Expression expression, List<String> names, Function<Expression, Measure> call) {
        this.expression = expression;
        this.names = names;
        this.call = call;
    }

    /// Takes a formula.
    ///
    /// @param first its first operand, where that has been taken
    Formula parse(@Nullable Measure first) {
        int start = expression.offset();
        Formula formula = sum(first == null ? null : operand(start, new Formula.Of(first)));
        if (operands.stream().allMatch(Formula.Number.class::isInstance)) {
            throw expression.refuseFrom(start, "is no measure", "a formula has a measure in it, or the name of one");
        }
        return formula;
    }

    private Formula sum(@Nullable Formula first) {
        Formula formula = product(first);
        while (true) {
            if (expression.take('+')) {
                formula = new Formula.Operation(Operator.PLUS, formula, product(null));
            } else if (expression.take('-')) {
                formula = new Formula.Operation(Operator.MINUS, formula, product(null));
            } else {
                return formula;
            }
        }
    }

    private Formula product(@Nullable Formula first) {
        Formula formula = first == null ? one() : first;
        while (true) {
            if (expression.take('*')) {
                formula = new Formula.Operation(Operator.TIMES, formula, one());
            } else if (expression.take('/')) {
                formula = new Formula.Operation(Operator.OVER, formula, one());
            } else {
                return formula;
            }
        }
    }

    private Formula one() {
        int start = expression.offset();
        if (expression.take('(')) {
            if (depth++ == Limits.NESTING_MAX) {
                throw expression.refuseFrom(
                        start, "is nested too deep", "at most " + Limits.NESTING_MAX + " levels are possible");
            }
            Formula inner = sum(null);
            expression.expect(')', "close the parenthesis, or go on with an operator");
            depth--;
            return inner;
        }
        String quoted = expression.quotedText();
        if (quoted != null) {
            return operand(start, named(start, quoted));
        }
        String word = expression.word();
        boolean isCall = !word.isEmpty() && expression.take('(');
        if (isCall) {
            expression.back(start);
            return operand(start, new Formula.Of(call.apply(expression)));
        }
        if (!word.isEmpty() && names.contains(word) && !NUMBER.matcher(word).matches()) {
            return operand(start, new Formula.Named(word));
        }
        expression.back(start);
        BigDecimal number = expression.number();
        if (number != null) {
            return operand(start, new Formula.Number(number));
        }
        if (expression.word().isEmpty()) {
            throw expression.refuse("is no operand", "write a measure, the name of one, a number or a parenthesis");
        }
        return named(start, word);
    }

    private Formula named(int start, String name) {
        if (!names.contains(name)) {
            throw expression.refuseFrom(
                    start,
                    "is no measure of this roll-up",
                    name.contains("-")
                            ? "a minus stands between spaces: a - b"
                            : names.isEmpty() ? "it has no other" : NearestWord.advice(name, names));
        }
        return new Formula.Named(name);
    }

    /// Refuses a field that one operand reads as a number and another one as a time. Then a type is missing:
    /// the type behind the formula was read as the type of its last operand.
    private Formula operand(int start, Formula operand) {
        if (operand instanceof Formula.Of(Measure.Numeric numeric)) {
            for (Formula each : operands) {
                if (each instanceof Formula.Of(Measure.Numeric other)
                        && other.input().fields().equals(numeric.input().fields())
                        && isTime(other) != isTime(numeric)) {
                    throw expression.refuseFrom(
                            start,
                            "reads a " + (isTime(numeric) ? "time" : "number") + " where the formula also reads a "
                                    + (isTime(numeric) ? "number" : "time"),
                            "put a formula in parentheses before its type: (max(at) - min(at)) decimal(12,0)");
                }
            }
        }
        operands.add(operand);
        if (operands.size() > Limits.OPERANDS_MAX) {
            throw expression.refuseFrom(
                    start, "is one operand too many", "at most " + Limits.OPERANDS_MAX + " are possible");
        }
        return operand;
    }

    private static boolean isTime(Measure.Numeric measure) {
        return measure.input().source() instanceof Measure.Source.Time;
    }
}
