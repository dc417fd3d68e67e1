package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.pipeline.Type.Scalar;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// A stored record as another type has it: the bytes that the same values have there.
public final class Reshaped {
    private Reshaped() {}

    /// The record under another type; the same bytes if that type cannot hold it.
    ///
    /// @param record bytes of a [Codec]
    public static byte[] of(byte[] record, Type.Fields type) {
        try {
            return fitted(record, 0, type, null);
        } catch (ShapeException misfit) {
            return record;
        }
    }

    /// The record under another type, as [Codec#decode] reads it.
    ///
    /// @param record bytes of a codec, from the offset `from` on
    /// @param defaults the record that has the components which the bytes do not have; `null`: only optional ones
    ///     may be missing
    /// @throws ShapeException if the type cannot hold it
    public static byte[] fitted(byte[] record, int from, Type.Fields type, byte @Nullable [] defaults) {
        BytesIn in = new BytesIn(record, from, record.length);
        Value.Fields stored = Value.fields(in);
        in.requireEnd();
        return fields(stored, type, defaults == null ? null : Value.read(defaults), "")
                .toBytes();
    }

    private static Value.Fields fields(Value.Fields stored, Type.Fields type, @Nullable Value defaults, String prefix) {
        SequencedMap<String, Value> components = new LinkedHashMap<>();
        for (Type.Component component : type.components()) {
            String path = prefix + component.name();
            Value value = stored.components().get(component.name());
            Value instead = defaults instanceof Value.Fields others
                    ? others.components().get(component.name())
                    : null;
            if (value == null && instead == null && !(component.type() instanceof Type.Maybe)) {
                throw new ShapeException(
                        "Component " + path + " is not in what is stored, and " + component.type() + " is wanted");
            }
            components.put(
                    component.name(),
                    value != null
                            ? value(value, component.type(), instead, path)
                            : instead != null ? instead : new Value.Absent());
        }
        return new Value.Fields(components);
    }

    private static Value value(Value stored, Type type, @Nullable Value defaults, String path) {
        return switch (type) {
            case Type.Maybe(Type inner) ->
                stored instanceof Value.Absent ? stored : value(stored, inner, defaults, path);
            case Type.Fields wanted
            when stored instanceof Value.Fields fields -> fields(fields, wanted, defaults, path + ".");
            case Type.Items(Type item)
            when stored instanceof Value.Items items ->
                new Value.Items(items.items().stream()
                        .map(each -> value(each, item, null, path + "[]"))
                        .toList());
            case Type.Enumeration names
            when stored instanceof Value.Text(String name, boolean constant)
                    && constant
                    && names.names().contains(name) -> stored;
            case Scalar scalar when isOf(stored, scalar) -> stored;
            case Scalar scalar
            when stored instanceof Value.Whole(long number, boolean _) && scalar == Scalar.LONG ->
                new Value.Whole(number, true);
            case Scalar scalar
            when stored instanceof Value.Whole(long number, boolean _) && scalar == Scalar.DECIMAL ->
                new Value.Decimal(BigDecimal.valueOf(number));
            default ->
                throw new ShapeException(
                        "Component " + path + " is stored as " + stored.toJson() + ", and " + type + " is wanted");
        };
    }

    private static boolean isOf(Value stored, Scalar scalar) {
        return switch (stored) {
            case Value.Flag _ -> scalar == Scalar.BOOLEAN;
            case Value.Whole whole -> scalar == (whole.wide() ? Scalar.LONG : Scalar.INT);
            case Value.Decimal _ -> scalar == Scalar.DECIMAL;
            case Value.Text text -> scalar == Scalar.TEXT && !text.constant();
            case Value.Time _ -> scalar == Scalar.TIME;
            case Value.Date _ -> scalar == Scalar.DATE;
            case Value.Span _ -> scalar == Scalar.DURATION;
            case Value.Absent _, Value.Items _, Value.Fields _ -> false;
        };
    }
}
