package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.util.function.Consumer;

/// A calculation that an answer makes from measures.
public sealed interface Formula {
    /// A number as it is written, without trailing zeros.
    record Number(BigDecimal value) implements Formula {}

    /// The value of another figure of the roll-up, as answers show it.
    record Named(String figure) implements Formula {}

    /// The value of a measure that has no name in answers; its own name is empty.
    record Of(Measure measure) implements Formula {}

    /// Two operands joined.
    record Operation(Operator operator, Formula left, Formula right) implements Formula {}

    /// How two operands are joined.
    enum Operator {
        PLUS("+"),
        MINUS("-"),
        TIMES("*"),
        OVER("/");

        private final String sign;

        Operator(String sign) {
            this.sign = sign;
        }

        public String sign() {
            return sign;
        }

        /// Whether it binds before the others.
        public boolean isTight() {
            return this == TIMES || this == OVER;
        }
    }

    /// The same as editions before the third read it: see [Condition#inTexts].
    default Formula inTexts() {
        return switch (this) {
            case Number _, Named _ -> this;
            case Of of -> new Of(of.measure.inTexts());
            case Operation all -> new Operation(all.operator, all.left.inTexts(), all.right.inTexts());
        };
    }

    /// Visits the operands, from left to right.
    default void forEachOperand(Consumer<Formula> visitor) {
        if (this instanceof Operation operation) {
            operation.left.forEachOperand(visitor);
            operation.right.forEachOperand(visitor);
        } else {
            visitor.accept(this);
        }
    }

    /// Whether it divides anywhere.
    default boolean divides() {
        return this instanceof Operation operation
                && (operation.operator == Operator.OVER || operation.left.divides() || operation.right.divides());
    }
}
