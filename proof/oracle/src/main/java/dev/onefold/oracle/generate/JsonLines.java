package dev.onefold.oracle.generate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Writes events as JSON objects, the same event each time a little differently.
final class JsonLines {
    private static final List<String> SPACES = List.of("", "", "", " ", "\t", "  ", " \r");
    private static final List<String> JUNK = List.of(
            "null",
            "[1,{\"a\":[]},\"x\"]",
            "{\"x\":{\"y\":null},\"x\":1}",
            "1e999",
            "-0.0",
            "123456789012345678901234567890.5",
            "\"\\u0000\"",
            "\"\\ud834\\udd1e\\/\"",
            "[[[[]]]]",
            "{}",
            "\"} , {\"");

    private final Chance chance;
    private final Spelling spelling;

    JsonLines(Chance chance) {
        this.chance = chance;
        spelling = new Spelling(chance);
    }

    String write(Map<Field, Value> event) {
        Map<String, Object> tree = new LinkedHashMap<>();
        for (Field field : chance.shuffled(new ArrayList<>(event.keySet()))) {
            Value value = event.get(field);
            String json = value == null ? null : spelling.json(value, field);
            if (json != null) {
                put(tree, field.path(), json);
            }
        }
        StringBuilder line = new StringBuilder(space());
        write(tree, line);
        return line.append(space()).toString();
    }

    private static void put(Map<String, Object> tree, List<String> path, String json) {
        Map<String, Object> inner = tree;
        for (String name : path.subList(0, path.size() - 1)) {
            @SuppressWarnings("unchecked") // Only this method puts maps, and no path leads through the end of another.
            Map<String, Object> next =
                    (Map<String, Object>) inner.computeIfAbsent(name, _ -> new LinkedHashMap<String, Object>());
            inner = next;
        }
        inner.put(path.getLast(), json);
    }

    private void write(Map<?, ?> tree, StringBuilder line) {
        List<String> members = new ArrayList<>();
        tree.forEach((name, value) -> {
            StringBuilder member = new StringBuilder();
            member.append(spelling.quoted(String.valueOf(name)))
                    .append(space())
                    .append(':')
                    .append(space());
            if (value instanceof Map<?, ?> inner) {
                write(inner, member);
            } else {
                member.append(value);
            }
            members.add(member.toString());
        });
        for (int count = chance.percent(30) ? chance.between(1, 2) : 0; count > 0; count--) {
            members.add(chance.between(0, members.size()), "\"junk\":" + space() + chance.of(JUNK));
        }
        line.append('{').append(space());
        line.append(String.join(space() + "," + space(), members));
        line.append(space()).append('}');
    }

    private String space() {
        return chance.of(SPACES);
    }
}
