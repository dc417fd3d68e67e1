package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.pipeline.Type;
import org.jspecify.annotations.Nullable;

/// Records of one type as bytes, and back. The bytes are the number of components and, for each, the length of its
/// name, the name, and its value as [dev.onefold.core.bytes.ValueBytes] has it. Equal records have equal bytes.
/// Immutable, so that several
/// threads may use it.
public sealed interface Codec<T extends Record> permits ClassCodec, StoredCodec {
    /// The codec of a public record.
    ///
    /// @throws ShapeException if the class cannot be stored, for its first component that cannot be
    static <T extends Record> Codec<T> of(Class<T> record) {
        return new ClassCodec<>(record);
    }

    /// The codec of records without a class.
    static Codec<StoredRecord> of(Type.Fields type) {
        return new StoredCodec(type);
    }

    /// The class.
    Class<T> record();

    /// The type, as data.
    Type.Fields type();

    /// The bytes of a record.
    ///
    /// @throws ShapeException if a component is null or breaks a limit
    default byte[] encode(T some) {
        return encode(some, new BytesOut());
    }

    /// The same, written in a place that is used again.
    byte[] encode(T some, BytesOut scratch);

    /// The record of the bytes. Components are found by name; one that is gone is dropped, `int` becomes
    /// `long` or a decimal, `long` a decimal, and a value an [java.util.Optional] of it.
    ///
    /// @param defaults source of components that the bytes do not have; `null`: only optional ones may be
    ///     missing
    /// @throws ShapeException if the bytes are of a record that does not fit this type
    /// @throws IllegalStateException if the bytes are not those of a record
    default T decode(byte[] bytes, @Nullable T defaults) {
        return decode(bytes, 0, defaults);
    }

    /// The same for the bytes that begin at `from`.
    T decode(byte[] bytes, int from, @Nullable T defaults);
}
