package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.util.List;

/// A yes-or-no question about the fields of a record.
public sealed interface Condition {
    record And(List<Condition> all) implements Condition {
        public And {
            all = List.copyOf(all);
        }
    }

    record Or(List<Condition> any) implements Condition {
        public Or {
            any = List.copyOf(any);
        }
    }

    record Not(Condition condition) implements Condition {}

    /// True when the field leads nowhere or to null.
    record Missing(FieldPath field) implements Condition {}

    /// The field's text is one of these; `negated`: is present and none of these.
    record TextIn(FieldPath field, List<String> texts, boolean negated) implements Condition {
        public TextIn {
            texts = List.copyOf(texts);
        }
    }

    /// The field is compared with the bare word `true` or `false`: a value that spells neither is refused.
    ///
    /// @param word the one that it is compared with
    /// @param negated whether the comparison is `!=`; it is false for a missing field, too
    record Truth(FieldPath field, boolean word, boolean negated) implements Condition {}

    /// The same as editions before the third read it: the words `true` and `false` are texts.
    default Condition inTexts() {
        return switch (this) {
            case And and -> new And(and.all.stream().map(Condition::inTexts).toList());
            case Or or -> new Or(or.any.stream().map(Condition::inTexts).toList());
            case Not not -> new Not(not.condition.inTexts());
            case Truth truth -> new TextIn(truth.field, List.of(String.valueOf(truth.word)), truth.negated);
            case Missing _, TextIn _, Number _ -> this;
        };
    }

    /// The field as a decimal compared with a number.
    record Number(FieldPath field, Comparison comparison, BigDecimal number) implements Condition {}

    /// How a field is compared with a number.
    enum Comparison {
        EQUAL("="),
        UNEQUAL("!="),
        LESS("<"),
        LESS_OR_EQUAL("<="),
        GREATER(">"),
        GREATER_OR_EQUAL(">=");

        private final String sign;

        Comparison(String sign) {
            this.sign = sign;
        }

        public String sign() {
            return sign;
        }

        /// Whether the comparison holds for an order as [java.util.Comparator] gives it.
        public boolean holds(int order) {
            return switch (this) {
                case EQUAL -> order == 0;
                case UNEQUAL -> order != 0;
                case LESS -> order < 0;
                case LESS_OR_EQUAL -> order <= 0;
                case GREATER -> order > 0;
                case GREATER_OR_EQUAL -> order >= 0;
            };
        }
    }
}
