package dev.onefold.core.keyed;

import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.pipeline.Type.Scalar;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/// A stored record as another type has it: the bytes that the same values have there.
final class Reshaped {
    private Reshaped() {}

    /// The record under another type; the same bytes if that type cannot hold it.
    ///
    /// @param record bytes of a [dev.onefold.core.codec.Codec]
    public static byte[] of(byte[] record, Type.Fields type) {
        try {
            return fields(Value.read(record), type).toBytes();
        } catch (ShapeException misfit) {
            return record;
        }
    }

    private static Value.Fields fields(Value.Fields stored, Type.Fields type) {
        SequencedMap<String, Value> components = new LinkedHashMap<>();
        for (Type.Component component : type.components()) {
            Value value = stored.components().getOrDefault(component.name(), new Value.Absent());
            components.put(component.name(), value(value, component.type()));
        }
        return new Value.Fields(components);
    }

    private static Value value(Value stored, Type type) {
        return switch (type) {
            case Type.Maybe(Type inner) -> stored instanceof Value.Absent ? stored : value(stored, inner);
            case Type.Fields wanted when stored instanceof Value.Fields fields -> fields(fields, wanted);
            case Type.Items(Type item)
            when stored instanceof Value.Items items ->
                new Value.Items(
                        items.items().stream().map(each -> value(each, item)).toList());
            case Scalar scalar
            when stored instanceof Value.Whole(long number, boolean wide) -> whole(number, wide, scalar);
            default -> {
                if (stored instanceof Value.Absent) {
                    throw new ShapeException("There is no value, and " + type + " is wanted");
                }
                yield stored;
            }
        };
    }

    private static Value whole(long number, boolean wide, Scalar scalar) {
        return switch (scalar) {
            case LONG -> new Value.Whole(number, true);
            case DECIMAL -> new Value.Decimal(BigDecimal.valueOf(number));
            default -> new Value.Whole(number, wide);
        };
    }
}
