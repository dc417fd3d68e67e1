package dev.onefold.core.json;

import dev.onefold.core.document.Node;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How the values of one Java type are written as JSON, and read again. Immutable.
public sealed interface JsonValue<V> permits JsonRecord, PlainValue {
    /// The class of the values, or of the lists and maps of them.
    Class<?> type();

    /// The value as [Json] takes it.
    @Nullable
    Object write(V value);

    /// Reads a value that [#write] has written.
    ///
    /// @throws IllegalStateException if a member is missing, or there is an object in the place of a text
    /// @throws IllegalArgumentException if a text is not a number or a constant
    /// @throws java.time.DateTimeException if a text is not a time
    @Nullable
    V read(Node json);

    /// Values that are written as their texts.
    static <V> JsonValue<V> text(Class<V> type, Function<String, V> reader) {
        return new PlainValue<>(type, Object::toString, json -> reader.apply(json.text()));
    }
}
