package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.pipeline.Type;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// How the values of one Java type, in one place of a record, are written and read. Immutable.
sealed interface Form permits ScalarForm, RecordForm, Form.Names, Form.Maybe, Form.Items {
    Type type();

    Place place();

    /// Writes a value with its tag.
    void write(BytesOut out, Object value);

    /// Reads a value behind its tag.
    ///
    /// @param defaults the value that is taken where the bytes have none
    Object read(int tag, BytesIn in, @Nullable Object defaults);

    default ShapeException misfit(int tag) {
        return place().refused("is stored as " + ValueBytes.word(tag) + ", and " + type() + " is wanted");
    }

    /// The value, or why there is none.
    static Object present(@Nullable Object value, Place place, String instead) {
        if (value == null) {
            throw place.refused("is null" + instead);
        }
        return value;
    }

    /// Constants of an enum, by their names.
    record Names(Place place, Type.Enumeration type, Enum<?>[] constants, byte[][] encoded) implements Form {
        @Override
        public void write(BytesOut out, Object value) {
            int i = 0;
            while (constants[i] != value) {
                i++;
            }
            out.octet(ValueBytes.NAME).raw(encoded[i], 0, encoded[i].length);
        }

        @Override
        public Object read(int tag, BytesIn in, @Nullable Object defaults) {
            if (tag != ValueBytes.NAME) {
                throw misfit(tag);
            }
            for (int i = 0; i < encoded.length; i++) {
                if (in.take(encoded[i])) {
                    return constants[i];
                }
            }
            throw place.refused("is stored as " + in.text() + ", which is none of " + String.join(", ", type.names()));
        }
    }

    /// An optional value.
    record Maybe(Place place, Form form) implements Form {
        @Override
        public Type type() {
            return new Type.Maybe(form.type());
        }

        @Override
        public void write(BytesOut out, Object value) {
            Object inner = ((Optional<?>) value).orElse(null);
            if (inner == null) {
                out.octet(ValueBytes.ABSENT);
            } else {
                form.write(out, inner);
            }
        }

        @Override
        public Object read(int tag, BytesIn in, @Nullable Object defaults) {
            if (tag == ValueBytes.ABSENT) {
                return Optional.empty();
            }
            Object inner = defaults instanceof Optional<?> some ? some.orElse(null) : null;
            return Optional.of(form.read(tag, in, inner));
        }
    }

    /// A list.
    record Items(Place place, Form form) implements Form {
        @Override
        public Type type() {
            return new Type.Items(form.type());
        }

        @Override
        public void write(BytesOut out, Object value) {
            List<?> items = (List<?>) value;
            out.octet(ValueBytes.LIST).number(items.size());
            for (Object item : items) {
                form.write(out, present(item, form.place(), ""));
            }
        }

        @Override
        public Object read(int tag, BytesIn in, @Nullable Object defaults) {
            if (tag != ValueBytes.LIST) {
                throw misfit(tag);
            }
            Object[] items = new Object[in.count()];
            for (int i = 0; i < items.length; i++) {
                items[i] = form.read(in.octet(), in, null);
            }
            return List.of(items);
        }
    }
}
