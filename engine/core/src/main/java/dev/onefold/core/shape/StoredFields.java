package dev.onefold.core.shape;

import dev.onefold.process.Stored;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A record's values for a function that upgrades it.
record StoredFields(Value.Fields fields) implements Stored {
    private static final String ITEM = "item";

    @Override
    public List<String> names() {
        return List.copyOf(fields.components().keySet());
    }

    @Override
    public Optional<String> text(String name) {
        return get(name, value -> value instanceof Value.Text text ? text.text() : null);
    }

    @Override
    public Optional<BigDecimal> number(String name) {
        return get(name, value -> switch (value) {
            case Value.Whole whole -> BigDecimal.valueOf(whole.number());
            case Value.Decimal decimal -> decimal.number();
            default -> null;
        });
    }

    @Override
    public Optional<Boolean> flag(String name) {
        return get(name, value -> value instanceof Value.Flag flag ? (Boolean) flag.flag() : null);
    }

    @Override
    public Optional<Instant> time(String name) {
        return get(name, value -> value instanceof Value.Time time ? time.time() : null);
    }

    @Override
    public Optional<LocalDate> date(String name) {
        return get(name, value -> value instanceof Value.Date date ? date.date() : null);
    }

    @Override
    public Optional<Duration> duration(String name) {
        return get(name, value -> value instanceof Value.Span span ? span.duration() : null);
    }

    @Override
    public Optional<Stored> nested(String name) {
        return get(name, value -> value instanceof Value.Fields nested ? nested.stored() : null);
    }

    @Override
    public Optional<List<Stored>> list(String name) {
        return get(
                name,
                value -> value instanceof Value.Items items
                        ? items.items().stream().map(StoredFields::item).toList()
                        : null);
    }

    private static Stored item(Value item) {
        return new StoredFields(new Value.Fields(new LinkedHashMap<>(Map.of(ITEM, item))));
    }

    private <T> Optional<T> get(String name, Function<Value, @Nullable T> reader) {
        Value value = fields.components().get(name);
        return value == null ? Optional.empty() : Optional.ofNullable(reader.apply(value));
    }
}
