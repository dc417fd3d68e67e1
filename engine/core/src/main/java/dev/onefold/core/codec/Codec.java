package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.pipeline.Type;
import org.jspecify.annotations.Nullable;

/// Java records of one class as bytes, and back. The bytes are the number of components and, for each, the length of
/// its name, the name, and its value as [dev.onefold.core.bytes.ValueBytes] has it. Equal records have equal bytes.
/// Immutable, so that several
/// threads may use it.
public final class Codec<T extends Record> {
    private final Class<T> record;
    private final RecordForm form;

    private Codec(Class<T> record) {
        this.record = record;
        form = Forms.of(record);
    }

    /// The codec of a public record.
    ///
    /// @throws ShapeException if the class cannot be stored, for its first component that cannot be
    public static <T extends Record> Codec<T> of(Class<T> record) {
        return new Codec<>(record);
    }

    /// The class.
    public Class<T> record() {
        return record;
    }

    /// The class, as data.
    public Type.Fields type() {
        return form.type();
    }

    /// The bytes of a record.
    ///
    /// @throws ShapeException if a component is null or breaks a limit
    public byte[] encode(T some) {
        return encode(some, new BytesOut());
    }

    /// The same, written in a place that is used again.
    public byte[] encode(T some, BytesOut scratch) {
        scratch.clear();
        form.writeContent(scratch, some);
        return scratch.toBytes();
    }

    /// The record of the bytes. Components are found by name; one that is gone is dropped, `int` becomes
    /// `long` or a decimal, `long` a decimal, and a value an [java.util.Optional] of it.
    ///
    /// @param defaults source of components that the bytes do not have; `null`: only optional ones may be
    ///     missing
    /// @throws ShapeException if the bytes are of a record that does not fit this class
    /// @throws IllegalStateException if the bytes are not those of a record
    public T decode(byte[] bytes, @Nullable T defaults) {
        return decode(bytes, 0, defaults);
    }

    /// The same for the bytes that begin at `from`.
    public T decode(byte[] bytes, int from, @Nullable T defaults) {
        BytesIn in = new BytesIn(bytes, from, bytes.length);
        T decoded = record.cast(form.readContent(in, defaults));
        in.requireEnd();
        return decoded;
    }
}
