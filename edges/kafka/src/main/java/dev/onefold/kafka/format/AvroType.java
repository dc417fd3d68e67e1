package dev.onefold.kafka.format;

import java.util.List;

/// A type of Avro.
sealed interface AvroType {
    /// Without parts.
    enum Plain implements AvroType {
        NULL,
        BOOLEAN,
        INT,
        LONG,
        FLOAT,
        DOUBLE,
        BYTES,
        STRING
    }

    /// @param fields filled when all are known: a record may have itself as a field
    record Row(List<Field> fields) implements AvroType {}

    record Field(String name, AvroType type) {}

    record Symbols(List<String> names) implements AvroType {}

    record Fixed(int size) implements AvroType {}

    record Items(AvroType of) implements AvroType {}

    record Entries(AvroType of) implements AvroType {}

    record Union(List<AvroType> branches) implements AvroType {}

    /// Digits behind the point, in the two's complement of bytes.
    record Decimal(AvroType base, int scale) implements AvroType {}

    /// A whole number or bytes that mean something else.
    record Logical(Plain base, Meaning meaning, int digits) implements AvroType {}

    /// A UUID in 16 bytes.
    record Uuid() implements AvroType {}

    /// Of a [Logical].
    enum Meaning {
        DATE,
        TIME,
        TIMESTAMP,
        LOCAL_TIMESTAMP
    }
}
