package dev.onefold.core.codec;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/// The components of a record while it is read, by number: until all are there the record cannot be made. It is not
/// thread-safe.
final class Slots {
    private static final Object PRIMITIVE = new Object();
    private static final MethodHandle FLAG = getter("flag", boolean.class);
    private static final MethodHandle INT = getter("whole", int.class);
    private static final MethodHandle LONG = getter("number", long.class);
    private static final MethodHandle OBJECT = getter("object", Object.class);

    private final long[] numbers;
    private final @Nullable Object[] objects;
    int filled;

    Slots(int count) {
        numbers = new long[count];
        objects = new Object[count];
    }

    boolean has(int slot) {
        return objects[slot] != null;
    }

    void set(int slot, long number) {
        numbers[slot] = number;
        set(slot, PRIMITIVE);
    }

    void set(int slot, Object value) {
        objects[slot] = value;
        filled++;
    }

    boolean flag(int slot) {
        return numbers[slot] != 0;
    }

    int whole(int slot) {
        return (int) numbers[slot];
    }

    long number(int slot) {
        return numbers[slot];
    }

    @Nullable
    Object object(int slot) {
        return objects[slot];
    }

    /// The handle that makes a record of these slots.
    ///
    /// @param constructor the record's constructor; it takes the components in the order of the slots
    static MethodHandle maker(MethodHandle constructor) {
        MethodType type = constructor.type();
        MethodHandle[] readers = new MethodHandle[type.parameterCount()];
        for (int slot = 0; slot < readers.length; slot++) {
            Class<?> parameter = type.parameterType(slot);
            MethodHandle getter = switch (Part.kind(parameter)) {
                case FLAG -> FLAG;
                case INT -> INT;
                case LONG -> LONG;
                case OBJECT -> OBJECT.asType(OBJECT.type().changeReturnType(parameter));
            };
            readers[slot] = MethodHandles.insertArguments(getter, 1, slot);
        }
        MethodHandle filtered = MethodHandles.filterArguments(constructor, 0, readers);
        return MethodHandles.permuteArguments(
                filtered.asType(filtered.type().changeReturnType(Record.class)),
                MethodType.methodType(Record.class, Slots.class),
                new int[readers.length]);
    }

    private static MethodHandle getter(String name, Class<?> result) {
        try {
            return MethodHandles.lookup().findVirtual(Slots.class, name, MethodType.methodType(result, int.class));
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }
}
