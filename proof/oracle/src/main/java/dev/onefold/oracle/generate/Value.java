package dev.onefold.oracle.generate;

import java.math.BigDecimal;
import java.time.Instant;

/// What a field of a record says, apart from how it is spelled.
sealed interface Value {
    /// A text.
    record Text(String text) implements Value {}

    /// A number.
    record Decimal(BigDecimal number) implements Value {}

    /// An integer as it stands, which may be too long or have leading zeros.
    record Digits(String digits) implements Value {}

    /// A moment.
    record Time(Instant instant) implements Value {}

    /// Yes or no.
    record Flag(boolean flag) implements Value {}

    /// The field is not there.
    record Absent() implements Value {}

    /// The field is there and is null.
    record Null() implements Value {}

    /// Something that belongs to no field: an object, an array, or no JSON at all.
    record Raw(String json) implements Value {}
}
