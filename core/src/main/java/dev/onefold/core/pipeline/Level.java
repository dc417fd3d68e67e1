package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One dimension of a roll-up: its name in answers, the source of its value, and the value that replaces a
/// missing one (`null`: a record without it is refused).
public record Level(String name, Source source, @Nullable String missing) {

    /// The source of a level's value.
    public sealed interface Source {
        FieldPath field();

        /// The field's text.
        record Text(FieldPath field) implements Source {}

        /// The first code points of the field's text.
        record Prefix(FieldPath field, int length) implements Source {}

        /// The start of the time bucket, ISO-8601 in UTC; sizes are whole seconds.
        record Bucket(FieldPath field, Duration size, TimeType type) implements Source {}

        /// The greatest multiple of the step that is not above the number.
        record Step(FieldPath field, BigDecimal step) implements Source {}
    }
}
