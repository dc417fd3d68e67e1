package dev.onefold.core.process;

import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.pipeline.Type.Scalar;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Decides which columns of a table can feed which measures, levels and conditions of its roll-ups. A column
/// of text can feed all of them: its values decide. A column is refused here if none of its values could feed
/// the roll-up.
final class FeedTypes {
    private final String table;
    private final Type.Fields row;

    /// The use of a column's value in a roll-up.
    private enum Use {
        TEXT("a text or a number"),
        ONLY_TEXT("a text"),
        NUMBER("a number"),
        TIME("a time"),
        ISO_TIME("a time in ISO-8601"),
        EPOCH_TIME("a time since 1970 as a number");

        private final String words;

        Use(String words) {
            this.words = words;
        }

        static Use of(TimeType type) {
            return switch (type) {
                case ISO -> ISO_TIME;
                case EPOCH_DAYS, EPOCH_SECONDS, EPOCH_MILLIS, EPOCH_MICROS, EPOCH_NANOS, HLC -> EPOCH_TIME;
                case UUID7, ULID, DMY, MDY -> ONLY_TEXT;
                case AUTO -> TIME;
            };
        }

        boolean takes(Type type) {
            return switch (type) {
                case Type.Maybe(Type some) -> takes(some);
                case Type.Items _, Type.Fields _ -> false;
                case Type.Enumeration _ -> this == TEXT;
                case Scalar scalar ->
                    switch (scalar) {
                        case Scalar.TEXT -> true;
                        case INT, LONG, DECIMAL -> this != ISO_TIME && this != ONLY_TEXT;
                        case Scalar.TIME -> this == TEXT || this == TIME || this == ISO_TIME;
                        case BOOLEAN, DATE, DURATION -> this == TEXT;
                    };
            };
        }
    }

    private FeedTypes(String table, Type.Fields row) {
        this.table = table;
        this.row = row;
    }

    /// Requires that the rows of a table have the columns that a roll-up reads, of types that can feed it.
    ///
    /// @throws ShapeException if a column is missing, or could not feed the roll-up with any value
    static void require(String table, Type.Fields row, Rollup rollup) {
        FeedTypes types = new FeedTypes(table, row);
        rollup.levels().forEach(types::require);
        rollup.measures().forEach(types::require);
    }

    private void require(Level level) {
        Use use = switch (level.source()) {
            case Level.Source.Text _, Level.Source.Prefix _ -> Use.TEXT;
            case Level.Source.Bucket bucket -> Use.of(bucket.type());
            case Level.Source.Calendar calendar -> Use.of(calendar.type());
            case Level.Source.Step _ -> Use.NUMBER;
        };
        require(level.source().field(), use);
    }

    private void require(Measure measure) {
        switch (measure) {
            case Measure.Count _ -> {}
            case Measure.Numeric numeric -> {
                Use use =
                        numeric.input().source() instanceof Measure.Source.Time time ? Use.of(time.type()) : Use.NUMBER;
                numeric.input().fields().forEach(field -> require(field, use));
                require(numeric.input().where());
            }
            case Measure.Distinct distinct -> {
                require(distinct.input().field(), Use.TEXT);
                require(distinct.input().where());
            }
        }
    }

    private void require(@Nullable Condition condition) {
        switch (condition) {
            case null -> {}
            case Condition.And and -> and.all().forEach(this::require);
            case Condition.Or or -> or.any().forEach(this::require);
            case Condition.Not not -> require(not.condition());
            case Condition.Missing missing -> type(missing.field());
            case Condition.TextIn in -> require(in.field(), Use.TEXT);
            case Condition.Truth truth -> require(truth.field(), Use.TEXT);
            case Condition.Number number -> require(number.field(), Use.NUMBER);
        }
    }

    private void require(FieldPath field, Use use) {
        Type type = type(field);
        if (!use.takes(type)) {
            throw new ShapeException("A roll-up of table " + table + " reads " + field + " as " + use.words
                    + ", and in the table's rows it is " + type + ". Let the row have a component for it, such as the"
                    + " seconds of a duration as a BigDecimal");
        }
    }

    private Type type(FieldPath field) {
        Type found = type(row, field.names());
        if (found == null) {
            throw new ShapeException(
                    "A roll-up of table " + table + " reads " + field + ", and the table's rows are " + row);
        }
        return found;
    }

    private static @Nullable Type type(Type.Fields of, List<String> names) {
        Type.Component component =
                of.named(FieldPath.of(names.getFirst()).toString()).orElse(null);
        if (component == null || names.size() == 1) {
            return component == null ? null : component.type();
        }
        Type type = component.type() instanceof Type.Maybe maybe ? maybe.type() : component.type();
        return type instanceof Type.Fields fields ? type(fields, names.subList(1, names.size())) : null;
    }
}
