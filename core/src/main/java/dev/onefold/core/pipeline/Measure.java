package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// One figure of a roll-up.
public sealed interface Measure {
    /// Its name in answers.
    String name();

    /// How many rows.
    record Count(String name) implements Measure {}

    /// What a measure over numbers makes of them.
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

        /// Whether it is made of a sum and a count; else of the values that are there and how often.
        public boolean isSummed() {
            return this == SUM || this == AVERAGE;
        }
    }

    /// A figure over the numbers of a field.
    record Numeric(String name, Fold fold, Input.Decimal input) implements Measure {}

    /// How many different texts.
    record Distinct(String name, Input.Text input) implements Measure {}

    /// What an event contributes to measures; measures with equal inputs share one.
    sealed interface Input {
        FieldPath field();

        /// A number of declared type.
        record Decimal(FieldPath field, DecimalType type, Missing<BigDecimal> missing) implements Input {}

        /// A text.
        record Text(FieldPath field, Missing<String> missing) implements Input {}
    }

    /// What is done when the field is missing: refuse the record, ignore it for this input, or take a value instead.
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
