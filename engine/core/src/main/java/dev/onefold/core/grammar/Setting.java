package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.TextPlace;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The value of a setting in a pipeline file. Each mistake in it is noted as a problem.
///
/// @param path to it from the top of the file
record Setting(Node node, String path, Problems problems) {
    /// Notes a problem of this setting.
    void refuse(String value, String wrong, String right) {
        problems.add(node.place(), path, value, wrong, right);
    }

    /// Notes that it is of another kind than it should be.
    void refuseKind(String wanted) {
        String right = "write " + wanted;
        switch (node) {
            case Node.Scalar scalar when scalar.isNull() -> refuse("", "has no value", right);
            case Node.Scalar scalar -> refuse(scalar.text(), "is a text", right);
            case Node.Sequence _ -> refuse("", "is a list", right);
            case Node.Mapping _ -> refuse("", "is a map", right);
        }
    }

    /// Notes that it has too many entries, if it has.
    void refuseMoreThan(int countMax, int count) {
        if (count > countMax) {
            refuse("", "has " + count + " entries", "at most " + countMax + " are possible");
        }
    }

    /// Reads its text by a grammar; `null` if it is not a text, or is wrong.
    <T> @Nullable T read(Function<Expression, T> grammar) {
        if (node instanceof Node.Scalar scalar && !scalar.isNull()) {
            return Expression.read(scalar, path, problems, grammar);
        }
        refuseKind("one text");
        return null;
    }

    /// The items of a list; empty if it is not a list.
    List<Setting> items() {
        return node instanceof Node.Sequence list
                ? IntStream.range(0, list.items().size())
                        .mapToObj(i -> new Setting(list.items().get(i), path + "[" + i + "]", problems))
                        .toList()
                : List.of();
    }

    /// Reads the items of a list by a grammar, each once; wrong ones are left out.
    <T> List<T> distinct(Function<Expression, T> grammar, String right) {
        return distinctItems(item -> item.read(grammar), right);
    }

    /// Reads the items of a list, each once; wrong ones are left out.
    <T> List<T> distinctItems(Function<Setting, @Nullable T> reader, String right) {
        Set<T> values = new LinkedHashSet<>();
        for (Setting item : items()) {
            T value = reader.apply(item);
            if (value != null && !values.add(value)) {
                item.refuse(value.toString(), "is there twice", right);
            }
        }
        return List.copyOf(values);
    }

    /// The value of an entry of this map.
    Setting entry(Node.Entry entry) {
        return new Setting(entry.value(), pathTo(entry.name().text()), problems);
    }

    /// The entries of a map by name, each name once: the first one. Empty if it is not a map.
    Map<String, Node.Entry> entries() {
        Map<String, Node.Entry> entries = new LinkedHashMap<>();
        for (Node.Entry entry : node instanceof Node.Mapping mapping ? mapping.entries() : List.<Node.Entry>of()) {
            String name = entry.name().text();
            TextPlace place = entry.name().place();
            Node.Entry first = entries.putIfAbsent(name, entry);
            if (first != null) {
                TextPlace firstPlace = first.name().place();
                String where = firstPlace.equals(place) ? "" : ", first in line " + firstPlace.line();
                problems.add(place, pathTo(name), name, "is set twice" + where, "keep one of them");
            }
        }
        return entries;
    }

    String pathTo(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }
}
