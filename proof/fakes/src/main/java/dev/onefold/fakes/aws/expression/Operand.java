package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.item.Numbers;
import dev.onefold.fakes.aws.item.Values;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What has a value, given an item.
sealed interface Operand {
    /// The value, or null where the item has none.
    @Nullable
    AttributeValue in(Map<String, AttributeValue> item);

    /// The value, in an update, where there must be one.
    default AttributeValue requiredIn(Map<String, AttributeValue> item) {
        AttributeValue value = in(item);
        if (value == null) {
            throw invalid("The provided expression refers to an attribute that does not exist in the item");
        }
        return value;
    }

    /// What stands at a path.
    record At(DocumentPath path) implements Operand {
        @Override
        public @Nullable AttributeValue in(Map<String, AttributeValue> item) {
            return path.in(item);
        }
    }

    /// What the request says.
    record Constant(AttributeValue value) implements Operand {
        @Override
        public AttributeValue in(Map<String, AttributeValue> item) {
            return value;
        }
    }

    /// `size(measured)`.
    record Size(Operand measured) implements Operand {
        @Override
        public @Nullable AttributeValue in(Map<String, AttributeValue> item) {
            AttributeValue value = measured.in(item);
            if (value == null) {
                return null;
            }
            int size = switch (value.type()) {
                case S -> Values.utf8(value.s()).length;
                case B -> value.b().asByteArrayUnsafe().length;
                case SS, NS, BS -> setElements(value).size();
                case L -> value.l().size();
                case M -> value.m().size();
                case N, BOOL, NUL, UNKNOWN_TO_SDK_VERSION -> -1;
            };
            return size < 0 ? null : Numbers.value(BigDecimal.valueOf(size));
        }
    }

    /// `if_not_exists(path, otherwise)`.
    record IfNotExists(DocumentPath path, Operand otherwise) implements Operand {
        @Override
        public @Nullable AttributeValue in(Map<String, AttributeValue> item) {
            AttributeValue value = path.in(item);
            return value == null ? otherwise.in(item) : value;
        }
    }

    /// `list_append(first, second)`.
    record ListAppend(Operand first, Operand second) implements Operand {
        @Override
        public AttributeValue in(Map<String, AttributeValue> item) {
            AttributeValue head = first.requiredIn(item);
            AttributeValue tail = second.requiredIn(item);
            if (!head.hasL() || !tail.hasL()) {
                throw mistyped();
            }
            List<AttributeValue> both = new ArrayList<>(head.l());
            both.addAll(tail.l());
            return AttributeValue.fromL(both);
        }
    }

    /// `left + right`, or minus.
    record Sum(Operand left, Operand right, boolean negated) implements Operand {
        @Override
        public AttributeValue in(Map<String, AttributeValue> item) {
            AttributeValue a = left.requiredIn(item);
            AttributeValue b = right.requiredIn(item);
            if (a.n() == null || b.n() == null) {
                throw mistyped();
            }
            BigDecimal addend = new BigDecimal(b.n());
            return Numbers.value(new BigDecimal(a.n()).add(negated ? addend.negate() : addend));
        }
    }

    static RuntimeException mistyped() {
        return invalid("An operand in the update expression has an incorrect data type");
    }

    static List<AttributeValue> setElements(AttributeValue set) {
        List<AttributeValue> elements = Values.elements(set);
        if (elements == null) {
            throw mistyped();
        }
        return elements;
    }
}
