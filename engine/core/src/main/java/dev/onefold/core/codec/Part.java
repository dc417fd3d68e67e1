package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.pipeline.FieldPath;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A component of a record: its name, the form of its values, and its accessor. Immutable.
final class Part {
    /// How a component is passed on without an object for it.
    enum Kind {
        FLAG,
        INT,
        LONG,
        OBJECT
    }

    final FieldPath path;
    final Form form;
    final byte[] name; // With its length before it, as it is stored.
    private final Kind kind;
    private final MethodHandle getter; // Of a Record: to a boolean, an int, a long or an Object.
    private final String whenNull;

    Part(FieldPath path, Form form, Class<?> javaType, MethodHandle accessor) {
        this.path = path;
        this.form = form;
        name = new BytesOut().text(path.toString()).toBytes();
        kind = kind(javaType);
        Class<?> result = kind == Kind.OBJECT ? Object.class : javaType;
        getter = accessor.asType(MethodType.methodType(result, Record.class));
        whenNull = form instanceof Form.Maybe ? "; use Optional.empty()" : "; use Optional";
    }

    static Kind kind(Class<?> javaType) {
        if (javaType == boolean.class) {
            return Kind.FLAG;
        }
        return javaType == int.class ? Kind.INT : javaType == long.class ? Kind.LONG : Kind.OBJECT;
    }

    void write(BytesOut out, Record record) {
        out.raw(name, 0, name.length);
        try {
            switch (kind) {
                case FLAG -> out.octet((boolean) getter.invokeExact(record) ? ValueBytes.TRUE : ValueBytes.FALSE);
                case INT -> out.octet(ValueBytes.INT).signed((int) getter.invokeExact(record));
                case LONG -> out.octet(ValueBytes.LONG).signed((long) getter.invokeExact(record));
                case OBJECT ->
                    form.write(out, Form.present((Object) getter.invokeExact(record), form.place(), whenNull));
            }
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible); // An accessor declares no exception.
        }
    }

    void read(BytesIn in, Slots slots, int slot, @Nullable Record defaults) {
        int tag = in.octet();
        switch (kind) {
            case FLAG -> slots.set(slot, ((ScalarForm) form).flag(tag) ? 1 : 0);
            case INT, LONG -> slots.set(slot, ((ScalarForm) form).whole(tag, in));
            case OBJECT -> {
                boolean nested = form instanceof RecordForm || form instanceof Form.Maybe;
                slots.set(slot, form.read(tag, in, defaults != null && nested ? value(defaults) : null));
            }
        }
    }

    /// Takes the components that the bytes do not have from the defaults.
    void take(@Nullable Record defaults, Slots slots, int slot) {
        if (defaults == null) {
            if (!(form instanceof Form.Maybe)) {
                throw form.place().refused("is not in what is stored, and " + form.type() + " is wanted");
            }
            slots.set(slot, Optional.empty());
            return;
        }
        Object value = value(defaults);
        switch (kind) {
            case FLAG -> slots.set(slot, (Boolean) value ? 1 : 0);
            case INT, LONG -> slots.set(slot, ((Number) value).longValue());
            case OBJECT -> slots.set(slot, value);
        }
    }

    private Object value(Record record) {
        try {
            return Form.present((Object) getter.invoke(record), form.place(), whenNull);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
