package dev.onefold.fakes.aws.expression;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.onefold.fakes.aws.item.Values;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A condition on an item; an item that does not exist has no attributes.
public sealed interface Condition {
    boolean holds(Map<String, AttributeValue> item);

    /// Both must hold.
    record Both(Condition left, Condition right) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            return left.holds(item) && right.holds(item);
        }
    }

    /// One must hold.
    record Either(Condition left, Condition right) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            return left.holds(item) || right.holds(item);
        }
    }

    /// It must not hold.
    record Not(Condition inner) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            return !inner.holds(item);
        }
    }

    /// Values of different types are unequal, and in no order.
    record Compare(Operand left, String sign, Operand right) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue a = left.in(item);
            AttributeValue b = right.in(item);
            if (sign.equals("=")) {
                return a != null && a.equals(b);
            }
            if (sign.equals("<>")) {
                return a == null || !a.equals(b);
            }
            return isInOrder(a, sign, b);
        }
    }

    private static boolean isInOrder(@Nullable AttributeValue a, String sign, @Nullable AttributeValue b) {
        OptionalInt order = a == null || b == null ? OptionalInt.empty() : Values.order(a, b);
        if (order.isEmpty()) {
            return false;
        }
        return switch (sign) {
            case "<" -> order.getAsInt() < 0;
            case "<=" -> order.getAsInt() <= 0;
            case ">" -> order.getAsInt() > 0;
            case ">=" -> order.getAsInt() >= 0;
            default -> throw new IllegalArgumentException("There is no comparison " + sign + ".");
        };
    }

    /// From low to high, both included.
    record Between(Operand value, Operand low, Operand high) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue between = value.in(item);
            return isInOrder(between, ">=", low.in(item)) && isInOrder(between, "<=", high.in(item));
        }
    }

    /// Equal to one of these.
    record In(Operand value, List<Operand> choices) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue wanted = value.in(item);
            return wanted != null && choices.stream().anyMatch(choice -> wanted.equals(choice.in(item)));
        }
    }

    /// Something stands there, or, if not `wanted`, nothing.
    record Exists(DocumentPath path, boolean wanted) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            return (path.in(item) != null) == wanted;
        }
    }

    /// A value of this type stands there.
    record IsOfType(DocumentPath path, AttributeValue.Type type) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue value = path.in(item);
            return value != null && value.type() == type;
        }
    }

    /// A text or bytes begin so.
    record BeginsWith(Operand value, Operand beginning) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue whole = value.in(item);
            AttributeValue part = beginning.in(item);
            if (whole == null || part == null) {
                return false;
            }
            if (whole.s() != null && part.s() != null) {
                return whole.s().startsWith(part.s());
            }
            return whole.b() != null && part.b() != null && latin(whole).startsWith(latin(part));
        }
    }

    /// A text holds a text, bytes hold bytes, a set or list an element.
    record Contains(Operand container, Operand element) implements Condition {
        @Override
        public boolean holds(Map<String, AttributeValue> item) {
            AttributeValue whole = container.in(item);
            AttributeValue part = element.in(item);
            if (whole == null || part == null) {
                return false;
            }
            if (whole.s() != null) {
                return part.s() != null && whole.s().contains(part.s());
            }
            if (whole.b() != null) {
                return part.b() != null && latin(whole).contains(latin(part));
            }
            List<AttributeValue> elements = whole.hasL() ? whole.l() : Values.elements(whole);
            return elements != null && elements.contains(part);
        }
    }

    /// Each byte as one letter.
    private static String latin(AttributeValue blob) {
        return new String(blob.b().asByteArrayUnsafe(), ISO_8859_1);
    }
}
