package dev.onefold.fakes.aws.expression;

import dev.onefold.fakes.aws.expression.Operand.Constant;
import dev.onefold.fakes.aws.expression.Operand.IfNotExists;
import dev.onefold.fakes.aws.expression.Operand.ListAppend;
import dev.onefold.fakes.aws.expression.Operand.Sum;
import dev.onefold.fakes.aws.expression.Update.Action;
import dev.onefold.fakes.aws.expression.Update.Verb;
import dev.onefold.fakes.aws.item.Values;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Reads update expressions.
final class UpdateParser {
    private final Parser parser;
    private final Tokens tokens;
    private final List<Action> actions = new ArrayList<>();

    private UpdateParser(Parser parser) {
        this.parser = parser;
        this.tokens = parser.tokens;
    }

    static Update parse(Parser parser) {
        return new UpdateParser(parser).update();
    }

    private Update update() {
        Set<Verb> verbs = EnumSet.noneOf(Verb.class);
        while (!tokens.isAtEnd()) {
            Verb verb = verb();
            if (!verbs.add(verb)) {
                throw tokens.refused("The \"" + verb + "\" section can only be used once in an update expression;");
            }
            do {
                actions.add(action(verb));
            } while (tokens.take(","));
        }
        for (int i = 0; i < actions.size(); i++) {
            for (Action earlier : actions.subList(0, i)) {
                if (actions.get(i).path().clashesWith(earlier.path())) {
                    throw tokens.refused("Two document paths overlap with each other; must remove or rewrite one of"
                            + " these paths;");
                }
            }
        }
        return new Update(actions);
    }

    private Verb verb() {
        try {
            Verb verb = Verb.valueOf(tokens.peek().toUpperCase(Locale.ROOT));
            tokens.next();
            return verb;
        } catch (IllegalArgumentException _) {
            throw tokens.unexpected();
        }
    }

    private Action action(Verb verb) {
        DocumentPath path = parser.path();
        return switch (verb) {
            case SET -> {
                tokens.expect("=");
                yield new Action(verb, path, sum());
            }
            case REMOVE -> new Action(verb, path, null);
            case ADD -> new Action(verb, path, constant("ADD", true));
            case DELETE -> new Action(verb, path, constant("DELETE", false));
        };
    }

    private Constant constant(String operator, boolean mayBeNumber) {
        Constant constant = parser.constant();
        AttributeValue value = constant.value();
        if (Values.elements(value) == null && !(mayBeNumber && value.n() != null)) {
            throw parser.mistyped(operator, value);
        }
        return constant;
    }

    private Operand sum() {
        Operand left = operand();
        String sign = tokens.peek();
        if (!tokens.take("+") && !tokens.take("-")) {
            return left;
        }
        Operand right = operand();
        requireNumber(sign, left);
        requireNumber(sign, right);
        return new Sum(left, right, sign.equals("-"));
    }

    private void requireNumber(String operator, Operand operand) {
        if (operand instanceof Constant(var value) && value.n() == null) {
            throw parser.mistyped(operator, value);
        }
        if (operand instanceof ListAppend) {
            throw tokens.refused("Incorrect operand type for operator or function; operator: " + operator);
        }
    }

    private Operand operand() {
        if (tokens.take("(")) {
            Operand inner = operand();
            tokens.expect(")");
            return inner;
        }
        if (!parser.isCall()) {
            return parser.pathOrConstant();
        }
        String name = tokens.next();
        tokens.expect("(");
        Operand operand = switch (name) {
            case "if_not_exists" -> {
                DocumentPath path = parser.path();
                tokens.expect(",");
                yield new IfNotExists(path, operand());
            }
            case "list_append" -> {
                Operand first = list();
                tokens.expect(",");
                yield new ListAppend(first, list());
            }
            default -> throw tokens.refused("Invalid function name; function: " + name);
        };
        tokens.expect(")");
        return operand;
    }

    private Operand list() {
        Operand operand = operand();
        if (operand instanceof Constant(var value) && !value.hasL()) {
            throw parser.mistyped("list_append", value);
        }
        return operand;
    }
}
