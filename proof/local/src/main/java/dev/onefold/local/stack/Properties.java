package dev.onefold.local.stack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Properties of a template's resources, as what they are.
final class Properties {
    private Properties() {}

    static Map<String, Object> map(@Nullable Object value) {
        if (!(value instanceof Map<?, ?> entries)) {
            throw new IllegalArgumentException("The template has " + value + " where names and values belong");
        }
        Map<String, Object> map = new LinkedHashMap<>();
        entries.forEach((name, entry) -> map.put(String.valueOf(name), entry));
        return map;
    }

    static List<Map<String, Object>> list(@Nullable Object value) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Object item : items(value)) {
            list.add(map(item));
        }
        return list;
    }

    static List<String> texts(@Nullable Object value) {
        return items(value).stream().map(String::valueOf).toList();
    }

    private static List<?> items(@Nullable Object value) {
        if (!(value instanceof List<?> items)) {
            throw new IllegalArgumentException("The template has " + value + " where a list belongs");
        }
        return items;
    }

    static String text(Map<String, Object> properties, String name) {
        Object value = properties.get(name);
        if (value == null) {
            throw new IllegalArgumentException("The template has no " + name + " in " + properties);
        }
        return value.toString();
    }

    static String text(Map<String, Object> properties, String name, String byDefault) {
        return String.valueOf(properties.getOrDefault(name, byDefault));
    }

    static int number(Map<String, Object> properties, String name) {
        return Integer.parseInt(text(properties, name));
    }

    static int number(Map<String, Object> properties, String name, int byDefault) {
        return Integer.parseInt(text(properties, name, String.valueOf(byDefault)));
    }

    static Duration seconds(Map<String, Object> properties, String name) {
        return Duration.ofSeconds(number(properties, name));
    }
}
