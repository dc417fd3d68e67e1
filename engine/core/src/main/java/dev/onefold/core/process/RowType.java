package dev.onefold.core.process;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.StoredRecord;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Table;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.shape.Value;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rows that one class makes for one table. Immutable.
public final class RowType {
    /// Greatest length of a row's key: a sort key of DynamoDB must hold it.
    public static final int KEY_BYTES_MAX = 1_000;

    private static final MethodHandle COMPONENT = component();

    private final Table table;
    private final Codec<Record> codec;
    private final MethodHandle[] key; // The accessors of the key's components.
    private final Type[] keyTypes; // Of these components.
    private final int[] pipelineKey; // For each part of the pipeline's key, its place in the table's key, or -1.

    /// @throws ShapeException if the type cannot be a row of the table
    RowType(Table table, Codec<Record> codec, List<String> pipelineKeyNames) {
        this.table = table;
        this.codec = codec;
        String type = StoredRecord.class.isAssignableFrom(codec.record())
                ? "a row of it"
                : codec.record().getName();
        key = new MethodHandle[table.key().size()];
        keyTypes = new Type[key.length];
        pipelineKey = pipelineKeyNames.stream().mapToInt(table.key()::indexOf).toArray();
        List<String> names =
                codec.type().components().stream().map(Type.Component::name).toList();
        for (int i = 0; i < key.length; i++) {
            String name = table.key().get(i);
            int place = names.indexOf(name);
            if (place < 0) {
                throw new ShapeException("Table " + table.name() + " has the key " + table.key() + ", and " + type
                        + " has no component " + name + "; it has " + String.join(", ", names));
            }
            Type component = codec.type().components().get(place).type();
            if (!(component instanceof Type.Enumeration)
                    && (!(component instanceof Type.Scalar) || component == Type.Scalar.DURATION)) {
                throw new ShapeException("Component " + name + " of " + type + " is a " + component
                        + ", which cannot be part of the key of table " + table.name());
            }
            keyTypes[i] = component;
            key[i] = accessor(codec.record(), name, place);
        }
    }

    private static MethodHandle accessor(Class<? extends Record> type, String name, int place) {
        if (StoredRecord.class.isAssignableFrom(type)) {
            return MethodHandles.insertArguments(COMPONENT, 1, name);
        }
        try {
            return lookup(type)
                    .unreflect(type.getRecordComponents()[place].getAccessor())
                    .asType(MethodType.methodType(Object.class, Record.class));
        } catch (IllegalAccessException e) {
            throw new ShapeException("The components of " + type.getName() + " cannot be read: it must be public");
        }
    }

    /// One of the row's own loader: another one may define a class of the same name.
    private static MethodHandles.Lookup lookup(Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
        } catch (IllegalAccessException notOpened) {
            return MethodHandles.publicLookup();
        }
    }

    private static MethodHandle component() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(StoredRecord.class, "component", MethodType.methodType(Value.class, String.class))
                    .asType(MethodType.methodType(Object.class, Record.class, String.class));
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /// The class of the rows.
    Class<? extends Record> row() {
        return codec.record();
    }

    Type.Fields type() {
        return codec.type();
    }

    /// @throws ShapeException if a value breaks a limit
    public byte[] encode(Record row, BytesOut scratch) {
        return codec.encode(row, scratch);
    }

    /// The key of a row.
    ///
    /// @param owner the parts of the pipeline's key; those that are in the table's key must be the row's
    /// @throws ShapeException if the row is another key's
    public Tuple key(Record row, List<String> owner) {
        String first = text(value(key[0], row));
        return owned(key.length == 1 ? List.of(first) : List.of(first, text(value(key[1], row))), owner);
    }

    /// The key of these values.
    ///
    /// @throws ShapeException if it is the key of no row, or of another key's
    public static Tuple key(Table table, List<Object> values, List<String> pipelineKeyNames, List<String> owner) {
        if (values.size() != table.key().size()) {
            throw new ShapeException("Table " + table.name() + " has a key of "
                    + table.key().size() + " parts, and a row with " + values.size() + " was to be removed");
        }
        List<String> parts = values.stream().map(value -> text(keyPart(value))).toList();
        return owned(
                table, pipelineKeyNames.stream().mapToInt(table.key()::indexOf).toArray(), parts, owner);
    }

    /// Requires that values are of the types of the key's components. The text of a value of another type may
    /// name no row here, and a row on the other runtime, whose keys have types.
    ///
    /// @throws ShapeException if one is not
    public void requireKey(List<Object> values) {
        for (int i = 0; i < Math.min(values.size(), keyTypes.length); i++) {
            Value part = keyPart(values.get(i));
            Type type = keyTypes[i];
            boolean fits = switch (part) {
                case Value.Whole _, Value.Decimal _ ->
                    type == Type.Scalar.INT || type == Type.Scalar.LONG || type == Type.Scalar.DECIMAL;
                case Value.Text _ -> type == Type.Scalar.TEXT || type instanceof Type.Enumeration;
                case Value.Flag _ -> type == Type.Scalar.BOOLEAN;
                case Value.Time _ -> type == Type.Scalar.TIME;
                case Value.Date _ -> type == Type.Scalar.DATE;
                case Value.Absent _, Value.Span _, Value.Items _, Value.Fields _ -> false;
            };
            if (!fits) {
                throw new ShapeException("A row was to be removed from table " + table.name() + " whose "
                        + table.key().get(i) + " is " + part.toJson() + ", and that component is a " + type);
            }
        }
    }

    /// The parts of a row's key as rows have them, of parts that a person has written: a number has several texts.
    ///
    /// @param table of a function, which several keys write
    /// @param given the parts of a key, or the first of them
    /// @throws IllegalArgumentException if there is no such key in the table
    public static List<String> keyTexts(Processing processing, int table, List<String> given) {
        Table asked = processing.tables().get(table);
        List<String> names = asked.key();
        if (given.size() > names.size()) {
            throw new IllegalArgumentException("The key of table " + asked.name() + " is " + String.join(", ", names)
                    + ", and " + given.size() + " parts are given");
        }
        Processing.Code code = processing.code();
        Type.Fields row = code == null ? null : code.tables().get(asked.name());
        if (row == null) {
            return given;
        }
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            Type type = row.named(names.get(i)).map(Type.Component::type).orElseThrow();
            try {
                texts.add(keyText(type, given.get(i)));
            } catch (ArithmeticException | IllegalArgumentException | DateTimeException _) {
                throw new IllegalArgumentException("The " + names.get(i) + " of table " + asked.name() + " is a " + type
                        + ", and '" + given.get(i) + "' is not");
            }
        }
        return texts;
    }

    private static String keyText(Type type, String given) {
        if (!(type instanceof Type.Scalar scalar)) {
            return given;
        }
        return switch (scalar) {
            case INT -> String.valueOf(new BigDecimal(given).intValueExact());
            case LONG -> String.valueOf(new BigDecimal(given).longValueExact());
            case DECIMAL -> text(new Value.Decimal(new BigDecimal(given)));
            case TIME -> Instant.parse(given).toString();
            case DATE -> LocalDate.parse(given).toString();
            case TEXT, BOOLEAN, DURATION -> given;
        };
    }

    private static Value keyPart(Object value) {
        try {
            Value part = Value.of(value);
            part.write(new BytesOut()); // A text may have half a surrogate pair.
            return part;
        } catch (IllegalArgumentException e) {
            throw new ShapeException("A row was to be removed by a key that no row can have: " + e.getMessage());
        }
    }

    private Tuple owned(List<String> parts, List<String> owner) {
        return owned(table, pipelineKey, parts, owner);
    }

    private static Tuple owned(Table table, int[] pipelineKey, List<String> parts, List<String> owner) {
        for (int i = 0; i < pipelineKey.length; i++) {
            if (pipelineKey[i] < 0) {
                continue; // Of a shared table.
            }
            String written = parts.get(pipelineKey[i]);
            if (!written.equals(owner.get(i))) {
                throw new ShapeException("A row of table " + table.name() + " has "
                        + table.key().get(pipelineKey[i]) + " " + written + ", and the event's is " + owner.get(i)
                        + ": a function writes rows of its own key only");
            }
        }
        return Tuple.of(parts);
    }

    private static @Nullable Object value(MethodHandle component, Record row) {
        try {
            return component.invokeExact(row);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new ShapeException("A component of " + row.getClass().getName() + " cannot be read: " + e);
        }
    }

    /// The text of a value, as it is in a level of a roll-up.
    private static String text(@Nullable Object value) {
        if (value == null) {
            throw new ShapeException("A part of a row's key is null");
        }
        return value instanceof String text ? text : text(value instanceof Value known ? known : Value.of(value));
    }

    private static String text(Value value) {
        Object plain = value.plain();
        return plain instanceof BigDecimal number ? number.toPlainString() : String.valueOf(plain);
    }
}
