package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A value of a group's rows that a roll-up keeps for its answers.
public sealed interface Measure {
    /// Its name in answers; empty if they do not show it.
    String name();

    /// The same under another name.
    default Measure named(String other) {
        return switch (this) {
            case Count _ -> new Count(other);
            case Numeric numeric -> new Numeric(other, numeric.fold, numeric.input);
            case Distinct distinct -> new Distinct(other, distinct.input);
        };
    }

    /// The same as editions before the third read it: see [Condition#inTexts].
    default Measure inTexts() {
        return switch (this) {
            case Count _ -> this;
            case Numeric numeric -> new Numeric(numeric.name, numeric.fold, numeric.input.inTexts());
            case Distinct distinct -> new Distinct(distinct.name, distinct.input.inTexts());
        };
    }

    /// How many rows.
    record Count(String name) implements Measure {}

    /// The operation of a measure on numbers.
    enum Fold {
        SUM("sum"),
        AVERAGE("average"),
        MIN("min"),
        MAX("max");

        private final String word;

        Fold(String word) {
            this.word = word;
        }

        /// The word for it in a pipeline file.
        public String word() {
            return word;
        }

        /// Whether it is made of a sum and a count; otherwise it is made of values and their counts.
        public boolean isSummed() {
            return this == SUM || this == AVERAGE;
        }
    }

    /// A figure over numbers.
    record Numeric(String name, Fold fold, Input.Decimal input) implements Measure {}

    /// How many different texts.
    record Distinct(String name, Input.Text input) implements Measure {}

    /// The definition of an event's contribution to measures; measures with equal inputs share one.
    sealed interface Input {
        /// The fields that its value is made of; those of its condition are not among them.
        List<FieldPath> fields();

        /// An event for which it does not hold contributes nothing to this input; `null`: no condition.
        @Nullable
        Condition where();

        /// Its value in the words of a pipeline file: `price * qty`.
        default String value() {
            return fields().isEmpty()
                    ? "count()"
                    : fields().stream().map(FieldPath::toString).collect(Collectors.joining(" * "));
        }

        /// A number of declared type.
        record Decimal(
                Source source,
                DecimalType type,
                Missing<BigDecimal> missing,
                @Nullable Condition where) implements Input {
            /// Of the numbers of a field, without a condition.
            public Decimal(FieldPath field, DecimalType type, Missing<BigDecimal> missing) {
                this(new Source.Product(List.of(field)), type, missing, null);
            }

            /// 1 for each event for which the condition holds: their sum says how many there are.
            public static Decimal counting(Condition where) {
                return new Decimal(new Source.Product(List.of()), new DecimalType(1, 0), Missing.refuse(), where);
            }

            /// Whether it is 1 for each event that it takes.
            public boolean isCounting() {
                return fields().isEmpty();
            }

            Decimal inTexts() {
                return where == null ? this : new Decimal(source, type, missing, where.inTexts());
            }

            @Override
            public List<FieldPath> fields() {
                return source.fields();
            }
        }

        /// A text.
        record Text(
                FieldPath field,
                Missing<String> missing,
                @Nullable Condition where) implements Input {
            /// Without a condition.
            public Text(FieldPath field, Missing<String> missing) {
                this(field, missing, null);
            }

            Text inTexts() {
                return where == null ? this : new Text(field, missing, where.inTexts());
            }

            @Override
            public List<FieldPath> fields() {
                return List.of(field);
            }
        }
    }

    /// The source of a number.
    sealed interface Source {
        List<FieldPath> fields();

        /// The fields multiplied: one field alone is itself, and no field is 1.
        record Product(List<FieldPath> fields) implements Source {
            public Product {
                fields = List.copyOf(fields);
                if (fields.size() > Limits.FACTORS_MAX) {
                    throw new IllegalArgumentException(
                            "A product has at most " + Limits.FACTORS_MAX + " factors, not " + fields.size());
                }
            }
        }

        /// The time in a field, in seconds since 1970-01-01T00:00Z.
        record Time(FieldPath field, TimeType type) implements Source {
            /// Holds each time that an event may have, to the nanosecond.
            public static final DecimalType SECONDS = new DecimalType(19, 9);

            @Override
            public List<FieldPath> fields() {
                return List.of(field);
            }
        }
    }

    /// The rule for a missing field: refuse the record, ignore it for this input, or take a value instead.
    record Missing<T>(boolean refused, @Nullable T value) {
        public static <T> Missing<T> refuse() {
            return new Missing<>(true, null);
        }

        public static <T> Missing<T> ignore() {
            return new Missing<>(false, null);
        }

        public static <T> Missing<T> take(T value) {
            return new Missing<>(false, value);
        }
    }
}
