package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/// A derived field: it is computed from the fields of a record, and read as if the record had it.
///
/// @param field its name
public record Let(FieldPath field, Term term) {
    /// A value that is computed from the fields of a record.
    public sealed interface Term {
        /// Hands over each field that it reads.
        default void fields(Consumer<FieldPath> to) {
            switch (this) {
                case Field(FieldPath field) -> to.accept(field);
                case Text _, Number _ -> {}
                case Call(Function _, List<Term> arguments) -> arguments.forEach(argument -> argument.fields(to));
                case If(Condition condition, Term then, Term otherwise) -> {
                    Pipeline.add(condition, to);
                    then.fields(to);
                    otherwise.fields(to);
                }
            }
        }
    }

    /// A field of the record, or a derived one.
    public record Field(FieldPath field) implements Term {}

    public record Text(String text) implements Term {}

    public record Number(BigDecimal number) implements Term {}

    /// One of two terms. The other one is not computed.
    public record If(Condition condition, Term then, Term otherwise) implements Term {}

    /// A function of terms. The numbers that a function counts by, and the texts that it searches for, are constants.
    public record Call(Function function, List<Term> arguments) implements Term {
        public Call {
            arguments = List.copyOf(arguments);
        }
    }

    /// A function; each gives the same value for the same arguments.
    public enum Function {
        LOWER("lower(email)"),
        UPPER("upper(code)"),
        TRIM("trim(name)"),
        CONCAT("concat(first, \" \", last)"),
        COALESCE("coalesce(nickname, name)"),
        SUBSTRING("substring(code, 1, 3)"),
        REPLACE("replace(phone, \"-\", \"\")"),
        SPLIT("split(path, \"/\", 2)"),
        DIVIDE("divide(gross, rate, 2)"),
        PLUS("+"),
        MINUS("-"),
        TIMES("*");

        private final String example;

        Function(String example) {
            this.example = example;
        }

        /// A call of it, as it may stand in a pipeline file; the sign of an operator.
        public String example() {
            return example;
        }

        /// Whether its sign stands between two terms.
        public boolean isOperator() {
            return example.length() == 1;
        }

        /// The name or the sign in a pipeline file.
        public String word() {
            return isOperator() ? example : name().toLowerCase(Locale.ROOT);
        }
    }
}
