package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Condition.BeginsWith;
import dev.onefold.fakes.aws.expression.Condition.Between;
import dev.onefold.fakes.aws.expression.Condition.Both;
import dev.onefold.fakes.aws.expression.Condition.Compare;
import dev.onefold.fakes.aws.expression.Operand.At;
import dev.onefold.fakes.aws.expression.Operand.Constant;
import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// One partition, and perhaps a range of its sort keys.
///
/// @param partition the place before all its items
/// @param range what the sort key must fulfil, or null for all
public record KeyCondition(Key partition, @Nullable Condition range) {
    static KeyCondition of(Condition condition, Schema schema) {
        List<Condition> parts = new ArrayList<>();
        collect(condition, parts);
        List<AttributeValue> values = new ArrayList<>();
        List<Condition> ranges = new ArrayList<>();
        for (Condition part : parts) {
            String name = attribute(part);
            if (name.equals(schema.partition())
                    && part instanceof Compare(var _, String sign, Constant(var value))
                    && sign.equals("=")) {
                values.add(value);
            } else if (name.equals(schema.sort())) {
                requireType(part, schema, name);
                ranges.add(part);
            } else {
                throw invalid("Query key condition not supported");
            }
        }
        if (values.isEmpty()) {
            throw invalid("Query condition missed key schema element: %s".formatted(schema.partition()));
        }
        if (values.size() > 1 || ranges.size() > 1) {
            throw invalid("KeyConditionExpressions must only contain one condition per key");
        }
        return new KeyCondition(schema.keyOf(values), ranges.isEmpty() ? null : ranges.getFirst());
    }

    /// Whether an item of the partition is asked for.
    public boolean holds(Map<String, AttributeValue> item) {
        return range == null || range.holds(item);
    }

    /// Whether it is at the end of the range, so that nothing that is asked for can come after it.
    public boolean endsAt(Map<String, AttributeValue> item, boolean forward) {
        return switch (range) {
            case Compare(Operand name, String sign, Operand value)
            when sign.equals(forward ? "<=" : ">=") -> Objects.equals(name.in(item), value.in(item));
            case Between(Operand name, Operand low, Operand high) ->
                Objects.equals(name.in(item), (forward ? high : low).in(item));
            case null, default -> false;
        };
    }

    private static void collect(Condition condition, List<Condition> parts) {
        if (condition instanceof Both(Condition left, Condition right)) {
            collect(left, parts);
            collect(right, parts);
        } else {
            parts.add(turned(condition));
        }
    }

    /// `:v < a` is `a > :v`.
    private static Condition turned(Condition condition) {
        if (!(condition instanceof Compare(Constant value, String sign, At attribute))) {
            return condition;
        }
        String turned = sign.startsWith("<") ? sign.replace('<', '>') : sign.replace('>', '<');
        return new Compare(attribute, sign.equals("<>") ? sign : turned, value);
    }

    private static String attribute(Condition part) {
        return switch (part) {
            case Compare(At(DocumentPath path), String sign, Constant _)
            when !path.isNested() && !sign.equals("<>") -> path.attribute();
            case Between(At(DocumentPath path), Constant _, Constant _) when !path.isNested() -> path.attribute();
            case BeginsWith(At(DocumentPath path), Constant _) when !path.isNested() -> path.attribute();
            default -> throw invalid("Invalid operator used in KeyConditionExpression");
        };
    }

    private static void requireType(Condition part, Schema schema, String name) {
        AttributeValue value = switch (part) {
            case Compare(var _, var _, Constant(var constant)) -> constant;
            case Between(var _, Constant(var low), var _) -> low;
            case BeginsWith(var _, Constant(var beginning)) -> beginning;
            default -> throw new IllegalArgumentException("No condition of a key: " + part);
        };
        if (value.type() != schema.types().get(name)) {
            throw invalid("One or more parameter values were invalid: Condition parameter type does not match schema"
                    + " type");
        }
    }
}
