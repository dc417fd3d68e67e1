package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Condition.Comparison;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Limits;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Reads a condition: comparisons, `not` and parentheses, joined by `and`, and these by `or`. Not
/// thread-safe.
final class ConditionParser {
    static final String JOIN_ADVICE = "join comparisons with 'and' or 'or', in small letters";

    private static final String COMPARISONS =
            "write a comparison: =, !=, <, <=, >, >=, in (…), not in (…), is missing or is not missing";

    private final Expression expression;
    private final FieldGrammar fields;
    private int depth;

    private ConditionParser(Expression expression, FieldGrammar fields) {
        this.expression = expression;
        this.fields = fields;
    }

    /// Reads the whole text as a condition.
    static Condition parse(Expression expression, FieldGrammar fields) {
        Condition condition = next(expression, fields);
        expression.end(JOIN_ADVICE);
        return condition;
    }

    /// Takes a condition, as far as it goes.
    static Condition next(Expression expression, FieldGrammar fields) {
        return new ConditionParser(expression, fields).any();
    }

    private Condition any() {
        List<Condition> conditions = new ArrayList<>();
        do {
            conditions.add(all());
        } while (expression.takeWord("or"));
        return conditions.size() == 1 ? conditions.getFirst() : new Condition.Or(conditions);
    }

    private Condition all() {
        List<Condition> conditions = new ArrayList<>();
        do {
            conditions.add(one());
        } while (expression.takeWord("and"));
        return conditions.size() == 1 ? conditions.getFirst() : new Condition.And(conditions);
    }

    private Condition one() {
        if (depth == Limits.NESTING_MAX) {
            throw expression.refuse("is nested too deep", "at most " + Limits.NESTING_MAX + " levels are possible");
        }
        depth++;
        Condition condition;
        if (expression.takeWord("not")) {
            condition = new Condition.Not(one());
        } else if (expression.take('(')) {
            condition = any();
            expression.expect(')', "close the parenthesis, or go on with 'and' or 'or'");
        } else {
            condition = comparison(fields.read(expression));
        }
        depth--;
        return condition;
    }

    private Condition comparison(FieldPath field) {
        if (expression.takeWord("is")) {
            boolean negated = expression.takeWord("not");
            if (!expression.takeWord("missing")) {
                throw expression.refuse("is unexpected, expected 'missing'", "write 'is missing' or 'is not missing'");
            }
            Condition missing = new Condition.Missing(field);
            return negated ? new Condition.Not(missing) : missing;
        }
        boolean negated = expression.takeWord("not");
        if (expression.takeWord("in")) {
            return in(field, negated);
        }
        if (negated) {
            throw expression.refuse("is unexpected, expected 'in'", "write 'not in (…)'");
        }
        int start = expression.offset();
        String sign = expression.run("=!<>");
        if (sign.isEmpty()) {
            throw expression.refuse("is no comparison", COMPARISONS);
        }
        Optional<Comparison> comparison = Stream.of(Comparison.values())
                .filter(each -> each.sign().equals(sign))
                .findFirst();
        return compared(
                field, comparison.orElseThrow(() -> expression.refuseFrom(start, "is no comparison", COMPARISONS)));
    }

    private Condition compared(FieldPath field, Comparison comparison) {
        boolean equality = comparison == Comparison.EQUAL || comparison == Comparison.UNEQUAL;
        BigDecimal number = expression.number();
        if (number != null) {
            return new Condition.Number(field, comparison, number);
        }
        if (!equality) {
            throw expression.refuse(
                    "is not a number",
                    "'" + comparison.sign() + "' compares numbers: write digits without quotes, like 100.50");
        }
        boolean negated = comparison == Comparison.UNEQUAL;
        String text = expression.quotedText();
        return text == null
                ? new Condition.Truth(field, truth(), negated)
                : new Condition.TextIn(field, List.of(text), negated);
    }

    /// Texts, or one of the words `true` and `false` alone.
    private Condition in(FieldPath field, boolean negated) {
        int start = expression.offset();
        if (expression.take('(') && !expression.isNext("\"'")) {
            boolean truth = truth();
            if (expression.take(')')) {
                return new Condition.Truth(field, truth, negated);
            }
        }
        expression.back(start);
        return new Condition.TextIn(field, texts(), negated);
    }

    private List<String> texts() {
        expression.expect('(', "write the texts in parentheses: in (\"EMEA\", \"APAC\")");
        List<String> texts = new ArrayList<>();
        do {
            texts.add(text());
        } while (expression.take(','));
        expression.expect(')', "close the parenthesis, or go on with a comma");
        return texts;
    }

    private String text() {
        String text = expression.quotedText();
        return text != null ? text : String.valueOf(truth());
    }

    /// Takes one of the words `true` and `false`.
    private boolean truth() {
        boolean truth = expression.takeWord("true");
        if (!truth && !expression.takeWord("false")) {
            throw expression.refuse("is no text", "write a text in quotes, like \"EMEA\"");
        }
        return truth;
    }
}
