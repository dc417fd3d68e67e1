package dev.onefold.fakes.aws.expression;

import dev.onefold.fakes.aws.expression.Condition.BeginsWith;
import dev.onefold.fakes.aws.expression.Condition.Between;
import dev.onefold.fakes.aws.expression.Condition.Both;
import dev.onefold.fakes.aws.expression.Condition.Compare;
import dev.onefold.fakes.aws.expression.Condition.Contains;
import dev.onefold.fakes.aws.expression.Condition.Either;
import dev.onefold.fakes.aws.expression.Condition.Exists;
import dev.onefold.fakes.aws.expression.Condition.In;
import dev.onefold.fakes.aws.expression.Condition.IsOfType;
import dev.onefold.fakes.aws.expression.Condition.Not;
import dev.onefold.fakes.aws.expression.DocumentPath.Field;
import dev.onefold.fakes.aws.expression.DocumentPath.Index;
import dev.onefold.fakes.aws.expression.Operand.At;
import dev.onefold.fakes.aws.expression.Operand.Constant;
import dev.onefold.fakes.aws.expression.Operand.Size;
import dev.onefold.fakes.aws.item.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Reads conditions, and what all expressions have in common.
final class Parser {
    private static final int OPERATORS_MAX = 300;
    private static final int CHOICES_MAX = 100;
    private static final Pattern START = Pattern.compile("[#A-Za-z]");
    private static final Set<String> SIGNS = Set.of("=", "<>", "<", "<=", ">", ">=");
    private static final Set<String> TYPES = Set.of("S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M");

    final Tokens tokens;

    /// The attributes that are spoken of.
    final Set<String> attributes = new TreeSet<>();

    private final Placeholders placeholders;
    private int operators;

    Parser(String kind, String text, Placeholders placeholders) {
        tokens = new Tokens(kind, text);
        this.placeholders = placeholders;
    }

    Condition condition() {
        Condition condition = either();
        tokens.expectEnd();
        return condition;
    }

    private Condition either() {
        Condition condition = both();
        while (tokens.take("OR")) {
            count();
            condition = new Either(condition, both());
        }
        return condition;
    }

    private Condition both() {
        Condition condition = single();
        while (tokens.take("AND")) {
            count();
            condition = new Both(condition, single());
        }
        return condition;
    }

    private Condition single() {
        if (tokens.take("NOT")) {
            count();
            return new Not(single());
        }
        if (tokens.take("(")) {
            if (tokens.isWrappedTwice()) {
                throw tokens.refused("The expression has redundant parentheses;");
            }
            Condition inner = either();
            tokens.expect(")");
            return inner;
        }
        count();
        if (isCall() && !tokens.peek().equals("size")) {
            return function(tokens.next());
        }
        Operand left = operand();
        if (tokens.take("BETWEEN")) {
            return between(left);
        }
        if (tokens.take("IN")) {
            return in(left);
        }
        return compare(left);
    }

    private Condition compare(Operand left) {
        if (!SIGNS.contains(tokens.peek())) {
            throw tokens.unexpected();
        }
        String sign = tokens.next();
        Operand right = operand();
        requireDistinct(sign, left, right);
        if (!sign.equals("=") && !sign.equals("<>")) {
            requireOrdered(sign, left);
            requireOrdered(sign, right);
        }
        return new Compare(left, sign, right);
    }

    private Condition between(Operand value) {
        Operand low = operand();
        tokens.expect("AND");
        Operand high = operand();
        requireDistinct("BETWEEN", value, low);
        requireDistinct("BETWEEN", value, high);
        requireOrdered("BETWEEN", low);
        requireOrdered("BETWEEN", high);
        if (low instanceof Constant(var from) && high instanceof Constant(var to)) {
            if (from.type() != to.type()) {
                throw tokens.refused("The BETWEEN operator requires same data type for lower and upper bounds;");
            }
            if (Values.order(from, to).orElseThrow() > 0) {
                throw tokens.refused(
                        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound;");
            }
        }
        return new Between(value, low, high);
    }

    private Condition in(Operand value) {
        List<Operand> choices = new ArrayList<>();
        tokens.expect("(");
        do {
            choices.add(operand());
            requireDistinct("IN", value, choices.getLast());
        } while (tokens.take(","));
        tokens.expect(")");
        if (choices.size() > CHOICES_MAX) {
            throw tokens.refused("The IN operator is provided with too many operands;");
        }
        return new In(value, choices);
    }

    private Condition function(String name) {
        tokens.expect("(");
        Condition condition = switch (name) {
            case "attribute_exists" -> new Exists(path(), true);
            case "attribute_not_exists" -> new Exists(path(), false);
            case "attribute_type" -> new IsOfType(pathThenComma(), type());
            case "begins_with" -> beginsWith();
            case "contains" -> contains();
            case "if_not_exists", "list_append" ->
                throw tokens.refused(
                        "The function is not allowed to be used this way in an expression; function: " + name);
            default -> throw tokens.refused("Invalid function name; function: " + name);
        };
        tokens.expect(")");
        return condition;
    }

    private Condition beginsWith() {
        Operand value = operand();
        tokens.expect(",");
        Operand beginning = operand();
        requireDistinct("begins_with", value, beginning);
        for (Operand operand : List.of(value, beginning)) {
            if (operand instanceof Constant(var constant) && constant.s() == null && constant.b() == null) {
                throw mistyped("begins_with", constant);
            }
        }
        return new BeginsWith(value, beginning);
    }

    private Condition contains() {
        Operand container = operand();
        tokens.expect(",");
        Operand element = operand();
        requireDistinct("contains", container, element);
        return new Contains(container, element);
    }

    private AttributeValue.Type type() {
        String type = placeholders.value(tokens, tokens.next()).s();
        if (type == null || !TYPES.contains(type)) {
            throw tokens.refused("Invalid attribute type name found; type: " + type);
        }
        return AttributeValue.Type.valueOf(type.equals("NULL") ? "NUL" : type);
    }

    private DocumentPath pathThenComma() {
        DocumentPath path = path();
        tokens.expect(",");
        return path;
    }

    boolean isCall() {
        return Character.isLetter(tokens.peek().isEmpty() ? ' ' : tokens.peek().charAt(0))
                && tokens.peek(1).equals("(");
    }

    private Operand operand() {
        if (isCall()) {
            String name = tokens.next();
            if (!name.equals("size")) {
                throw tokens.refused(
                        "The function is not allowed to be used this way in an expression; function: " + name);
            }
            tokens.expect("(");
            Operand measured = pathOrConstant();
            tokens.expect(")");
            return new Size(measured);
        }
        return pathOrConstant();
    }

    Operand pathOrConstant() {
        return tokens.peek().startsWith(":") ? constant() : new At(path());
    }

    Constant constant() {
        if (!tokens.peek().startsWith(":")) {
            throw tokens.unexpected();
        }
        return new Constant(placeholders.value(tokens, tokens.next()));
    }

    DocumentPath path() {
        List<DocumentPath.Step> steps = new ArrayList<>();
        steps.add(field());
        attributes.add(((Field) steps.getFirst()).name());
        while (true) {
            if (tokens.take(".")) {
                steps.add(field());
            } else if (tokens.take("[")) {
                steps.add(index());
                tokens.expect("]");
            } else {
                return new DocumentPath(List.copyOf(steps));
            }
        }
    }

    private Field field() {
        String token = tokens.peek();
        if (!START.matcher(token).lookingAt()) {
            throw tokens.unexpected();
        }
        tokens.next();
        if (token.startsWith("#")) {
            return new Field(placeholders.name(tokens, token));
        }
        if (ReservedWords.contains(token)) {
            throw tokens.refused("Attribute name is a reserved keyword; reserved keyword: " + token);
        }
        return new Field(token);
    }

    private Index index() {
        try {
            return new Index(Integer.parseInt(tokens.peek()));
        } catch (NumberFormatException _) {
            throw tokens.unexpected();
        } finally {
            tokens.next();
        }
    }

    private void requireDistinct(String operator, Operand left, Operand right) {
        if (left.equals(right) && !(left instanceof Constant)) {
            throw tokens.refused("The first operand must be distinct from the remaining operands for this operator or"
                    + " function; operator: " + operator);
        }
    }

    private void requireOrdered(String operator, Operand operand) {
        if (operand instanceof Constant(var value) && Values.order(value, value).isEmpty()) {
            throw mistyped(operator, value);
        }
    }

    RuntimeException mistyped(String operator, AttributeValue value) {
        return tokens.refused("Incorrect operand type for operator or function; operator or function: " + operator
                + ", operand type: " + value.type());
    }

    private void count() {
        if (++operators > OPERATORS_MAX) {
            throw tokens.refused("The expression contains too many operators;");
        }
    }
}
