package dev.onefold.core.json;

import dev.onefold.core.document.Node;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Values of a type that needs no description: numbers, texts, times, constants, and lists and maps of values.
record PlainValue<V>(Class<?> type, Function<V, @Nullable Object> writer, Function<Node, @Nullable V> reader)
        implements JsonValue<V> {
    private static final List<PlainValue<?>> SCALARS = List.of(
            scalar(boolean.class, Boolean::valueOf),
            scalar(int.class, Integer::valueOf),
            scalar(long.class, Long::valueOf),
            scalar(Long.class, Long::valueOf),
            scalar(String.class, text -> text),
            scalar(Instant.class, Instant::parse),
            new PlainValue<>(BigDecimal.class, value -> value, PlainValue::decimal),
            new PlainValue<>(
                    Duration.class, Duration::toMillis, json -> Duration.ofMillis(Long.parseLong(json.text()))));

    @Override
    public @Nullable Object write(V value) {
        return writer.apply(value);
    }

    @Override
    public @Nullable V read(Node json) {
        return reader.apply(json);
    }

    private static <V> PlainValue<V> scalar(Class<?> type, Function<String, V> reader) {
        return new PlainValue<>(type, value -> value, json -> reader.apply(json.text()));
    }

    private static @Nullable BigDecimal decimal(Node json) {
        return json instanceof Node.Scalar scalar && scalar.isNull() ? null : new BigDecimal(json.text());
    }

    /// The values of a type.
    ///
    /// @param described values of types that are not written as their class alone says
    /// @throws IllegalArgumentException if such values cannot be written
    @SuppressWarnings("unchecked")
    static JsonValue<Object> of(Type type, List<JsonValue<?>> described) {
        return (JsonValue<Object>) find(type, described);
    }

    private static JsonValue<?> find(Type type, List<JsonValue<?>> described) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            JsonValue<Object> of = of(arguments[arguments.length - 1], described);
            if (generic.getRawType() == List.class) {
                return list(of);
            }
            if (generic.getRawType() == Map.class) {
                return map(of(arguments[0], described), of);
            }
        }
        for (JsonValue<?> each :
                Stream.concat(described.stream(), SCALARS.stream()).toList()) {
            if (each.type() == type) {
                return each;
            }
        }
        if (type instanceof Class<?> named && named.isRecord()) {
            return JsonRecord.of(named.asSubclass(Record.class), "", described.toArray(JsonValue<?>[]::new));
        }
        if (type instanceof Class<?> named && named.isEnum()) {
            return constants(named.asSubclass(Enum.class));
        }
        throw new IllegalArgumentException(type + " has no form as JSON; describe it");
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    private static PlainValue<Enum> constants(Class<? extends Enum> type) {
        return new PlainValue<>(type, JsonRecord::word, json -> JsonRecord.constant((Class) type, json.text()));
    }

    private static PlainValue<List<?>> list(JsonValue<Object> of) {
        return new PlainValue<>(
                List.class,
                list -> {
                    List<@Nullable Object> items = new ArrayList<>();
                    list.forEach(item -> items.add(of.write(item)));
                    return items;
                },
                json -> json.items().stream().map(of::read).toList());
    }

    private static PlainValue<Map<?, ?>> map(JsonValue<Object> names, JsonValue<Object> of) {
        return new PlainValue<>(
                Map.class,
                map -> {
                    Map<@Nullable Object, @Nullable Object> json = new LinkedHashMap<>();
                    map.forEach((name, value) -> json.put(names.write(name), of.write(value)));
                    return json;
                },
                json -> {
                    Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
                    json.entries().forEach(entry -> map.put(names.read(entry.name()), of.read(entry.value())));
                    return map;
                });
    }
}
