package dev.onefold.core.grammar;

import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Limits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the fields that a pipeline names, and refuses those that no record of its format can have.
///
/// @param format null when it is not known: then any field is possible
/// @param derived those that no record has
record FieldGrammar(@Nullable Format format, List<FieldPath> derived) {
    /// Without derived fields.
    FieldGrammar(@Nullable Format format) {
        this(format, List.of());
    }

    /// Takes a field.
    FieldPath read(Expression expression) {
        return read(expression, "");
    }

    /// Takes a field that may be a factor of a product.
    FieldPath factor(Expression expression) {
        return read(expression, Expression.TIMES);
    }

    /// Takes a field that may be an operand of a derived one.
    FieldPath operand(Expression expression) {
        return read(expression, Expression.OPERATORS);
    }

    private FieldPath read(Expression expression, String operators) {
        int start = expression.offset();
        List<String> names = expression.names(operators);
        if (names.size() > Limits.NESTING_MAX) {
            throw expression.refuseFrom(
                    start,
                    "has " + names.size() + " names",
                    "a record is nested at most " + Limits.NESTING_MAX + " deep");
        }
        if (derived.contains(FieldPath.of(names.getFirst()))) {
            if (names.size() > 1) {
                throw expression.refuseFrom(
                        start, "leads into a derived field, which has no fields", "give that one another name");
            }
            return new FieldPath(names);
        }
        if (format instanceof Format.Changes && isOfEnvelope(names)) {
            throw expression.refuseFrom(
                    start,
                    "leads into the record of the change, and fields are named as in the table here",
                    "write " + FieldPath.of(names.getLast()));
        }
        if (format instanceof Format.Csv csv) {
            refuseUnlessColumn(names, csv.columns(), start, expression);
        }
        return new FieldPath(names);
    }

    /// Reads the whole text as a field.
    FieldPath alone(Expression expression) {
        FieldPath field = read(expression);
        expression.end("write one field alone; " + expression.nameAdvice());
        return field;
    }

    private static boolean isOfEnvelope(List<String> names) {
        boolean isInValue = names.size() > 2 && names.getFirst().equals("value");
        return names.size() > 1 && List.of("NewImage", "OldImage").contains(names.getFirst())
                || isInValue && List.of("after", "before").contains(names.get(1));
    }

    private static void refuseUnlessColumn(List<String> names, List<String> columns, int start, Expression expression) {
        if (names.size() > 1) {
            String column = String.join(".", names);
            throw expression.refuseFrom(
                    start,
                    "is a path, and a csv record has columns only",
                    "a column whose name has dots is in double quotes, inside those of YAML: '" + FieldPath.of(column)
                            + "'");
        }
        if (!columns.isEmpty() && !columns.contains(names.getFirst())) {
            throw expression.refuseFrom(
                    start, "is none of input.columns", NearestWord.advice(names.getFirst(), columns));
        }
    }
}
