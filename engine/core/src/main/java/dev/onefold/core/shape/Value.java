package dev.onefold.core.shape;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.json.Json;
import dev.onefold.process.Stored;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// The value of a component of a stored record, without the Java class that it was written from. Immutable.
public sealed interface Value {
    /// No value: an empty Optional.
    record Absent() implements Value {}

    /// A truth value.
    record Flag(boolean flag) implements Value {}

    /// An integer.
    ///
    /// @param wide whether it is stored as a `long`, not as an `int`
    record Whole(long number, boolean wide) implements Value {}

    /// A decimal of at most 38 digits, without trailing zeros.
    record Decimal(BigDecimal number) implements Value {
        public Decimal {
            number = ValueBytes.plain(ValueBytes.shortest(number));
        }
    }

    /// A text.
    ///
    /// @param constant whether it is the name of an enum's constant
    record Text(String text, boolean constant) implements Value {}

    /// A point in time.
    record Time(Instant time) implements Value {}

    /// A day.
    record Date(LocalDate date) implements Value {}

    /// A duration.
    record Span(Duration duration) implements Value {}

    /// A list.
    record Items(List<Value> items) implements Value {
        public Items {
            items = List.copyOf(items);
        }
    }

    /// A record: its components by name, in their order.
    record Fields(SequencedMap<String, Value> components) implements Value {
        public Fields {
            components = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(components));
        }

        /// The bytes that [Value#read] reads.
        public byte[] toBytes() {
            BytesOut out = new BytesOut();
            writeContent(out);
            return out.toBytes();
        }

        private void writeContent(BytesOut out) {
            out.number(components.size());
            components.forEach((name, value) -> value.write(out.text(name)));
        }

        /// The same for a function that upgrades it.
        public Stored stored() {
            return new StoredFields(this);
        }
    }

    /// The record of the bytes of a [dev.onefold.core.codec.Codec].
    ///
    /// @throws IllegalStateException if the bytes are not those of a record
    static Fields read(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        Fields fields = fields(in);
        in.requireEnd();
        return fields;
    }

    /// The record of the bytes that are next.
    static Fields fields(BytesIn in) {
        SequencedMap<String, Value> components = new LinkedHashMap<>();
        for (int left = in.count(); left > 0; left--) {
            String name = in.text();
            if (components.put(name, value(in)) != null) {
                throw in.broken("component " + name + " is there twice");
            }
        }
        return new Fields(components);
    }

    private static Value value(BytesIn in) {
        return read(in.octet(), in);
    }

    /// The value behind a tag.
    static Value read(int tag, BytesIn in) {
        return switch (tag) {
            case ValueBytes.ABSENT -> new Absent();
            case ValueBytes.FALSE -> new Flag(false);
            case ValueBytes.TRUE -> new Flag(true);
            case ValueBytes.INT -> new Whole(ValueBytes.whole(in), false);
            case ValueBytes.LONG -> new Whole(in.signed(), true);
            case ValueBytes.DECIMAL -> new Decimal(ValueBytes.decimal(in));
            case ValueBytes.TEXT -> new Text(in.text(), false);
            case ValueBytes.TIME -> new Time(ValueBytes.time(in));
            case ValueBytes.DATE -> new Date(ValueBytes.date(in));
            case ValueBytes.DURATION -> new Span(ValueBytes.duration(in));
            case ValueBytes.NAME -> new Text(in.text(), true);
            case ValueBytes.LIST -> {
                List<Value> items = new ArrayList<>();
                for (int left = in.count(); left > 0; left--) {
                    items.add(value(in));
                }
                yield new Items(items);
            }
            case ValueBytes.RECORD -> fields(in);
            default -> throw in.broken("there is no kind of value " + tag);
        };
    }

    /// The value of a Java object that is neither a record nor a list: a part of a row's key, for example.
    ///
    /// @throws IllegalArgumentException if no component of a record can hold it
    static Value of(Object object) {
        return switch (object) {
            case Boolean flag -> new Flag(flag);
            case Integer number -> new Whole(number, false);
            case Long number -> new Whole(number, true);
            case BigDecimal number -> new Decimal(number);
            case String text -> new Text(text, false);
            case Instant time -> new Time(time);
            case LocalDate date -> new Date(date);
            case Duration duration -> new Span(duration);
            case Enum<?> constant -> new Text(constant.name(), true);
            default ->
                throw new IllegalArgumentException(
                        "A " + object.getClass().getName() + " is not a value that a record can hold alone");
        };
    }

    /// Writes it with its tag.
    ///
    /// @throws IllegalArgumentException if a text has half a surrogate pair
    default void write(BytesOut out) {
        switch (this) {
            case Absent _ -> out.octet(ValueBytes.ABSENT);
            case Flag(boolean flag) -> out.octet(flag ? ValueBytes.TRUE : ValueBytes.FALSE);
            case Whole(long number, boolean wide) ->
                out.octet(wide ? ValueBytes.LONG : ValueBytes.INT).signed(number);
            case Decimal(BigDecimal number) -> ValueBytes.decimal(out, number);
            case Text(String text, boolean constant) ->
                out.octet(constant ? ValueBytes.NAME : ValueBytes.TEXT).text(text);
            case Time(Instant time) -> ValueBytes.seconds(out, ValueBytes.TIME, time.getEpochSecond(), time.getNano());
            case Date(LocalDate date) -> out.octet(ValueBytes.DATE).signed(date.toEpochDay());
            case Span(Duration duration) ->
                ValueBytes.seconds(out, ValueBytes.DURATION, duration.getSeconds(), duration.getNano());
            case Items(List<Value> items) -> {
                out.octet(ValueBytes.LIST).number(items.size());
                items.forEach(item -> item.write(out));
            }
            case Fields fields -> fields.writeContent(out.octet(ValueBytes.RECORD));
        }
    }

    /// JSON on one line: decimals as plain numbers, times in UTC, dates and durations as ISO-8601 texts, an absent
    /// value as `null`.
    default String toJson() {
        return Json.of(plain());
    }

    /// The value in types that [Json] and a reader without our types understand: `null`, a Boolean, a number, a
    /// text, a list or a map.
    default @Nullable Object plain() {
        return switch (this) {
            case Absent _ -> null;
            case Flag(boolean flag) -> flag;
            case Whole whole -> whole.number();
            case Decimal(BigDecimal number) -> number;
            case Text text -> text.text();
            case Time(Instant time) -> time.toString();
            case Date(LocalDate date) -> date.toString();
            case Span(Duration duration) -> duration.toString();
            case Items(List<Value> items) -> items.stream().map(Value::plain).toList();
            case Fields(SequencedMap<String, Value> components) -> {
                Map<String, @Nullable Object> plain = new LinkedHashMap<>();
                components.forEach((name, value) -> plain.put(name, value.plain()));
                yield plain;
            }
        };
    }
}
