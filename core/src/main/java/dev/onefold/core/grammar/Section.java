package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.Spelling;
import dev.onefold.core.document.TextPlace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The settings of one section of a pipeline file, each known and there once. What is not so is noted as a problem. One
/// thread.
final class Section {
    /// The sections of a pipeline file and the settings that each may have, in the order of the reference: the one list
    /// of them.
    enum Kind {
        FILE("the file", "pipeline", "input", "rollup", "rollups"),
        INPUT("input", "format", "columns", "delimiter", "key", "version", "id", "horizon", "time", "delete", "filter"),
        VERSION("version", "field", "type"),
        TIME("time", "field", "type"),
        ROLLUP("a roll-up", "levels", "measures"),
        LEVEL("a level", "field", "name", "missing");

        private final String title;

        @SuppressWarnings("ImmutableEnumChecker") // It is one of List.of.
        private final List<String> names;

        Kind(String title, String... names) {
            this.title = title;
            this.names = List.of(names);
        }

        List<String> names() {
            return names;
        }

        private String advice(String unknown) {
            if (Spelling.nearest(unknown, names).isEmpty()) {
                for (Kind other : values()) {
                    if (other.names.contains(unknown)) {
                        return "it belongs to " + other.title;
                    }
                }
            }
            return Spelling.advice(unknown, names);
        }
    }

    private final TextPlace place;
    private final String path;
    private final Problems problems;
    private final Map<String, Node.Entry> entries;

    private Section(TextPlace place, String path, Problems problems, Map<String, Node.Entry> entries) {
        this.place = place;
        this.path = path;
        this.problems = problems;
        this.entries = entries;
    }

    /// The settings of a section; null when the node is no map of settings.
    static @Nullable Section of(Node node, Kind section, String path, Problems problems) {
        if (!(node instanceof Node.Mapping mapping)) {
            refuseKind(node, path, "settings, as in '" + section.names.getFirst() + ": …'", problems);
            return null;
        }
        Map<String, Node.Entry> known = new LinkedHashMap<>();
        unique(mapping, path, problems).forEach((name, entry) -> {
            if (section.names.contains(name)) {
                known.put(name, entry);
            } else {
                problems.add(
                        entry.name().place(),
                        pathTo(path, name),
                        name,
                        "is not a setting of " + section.title,
                        section.advice(name));
            }
        });
        return new Section(mapping.place(), path, problems, known);
    }

    /// The entries of a map by name, each name once: the first one.
    static Map<String, Node.Entry> unique(Node.Mapping mapping, String path, Problems problems) {
        Map<String, Node.Entry> entries = new LinkedHashMap<>();
        for (Node.Entry entry : mapping.entries()) {
            String name = entry.name().text();
            Node.Entry first = entries.putIfAbsent(name, entry);
            if (first != null) {
                TextPlace firstPlace = first.name().place();
                boolean inFile = !firstPlace.equals(entry.name().place());
                problems.add(
                        entry.name().place(),
                        pathTo(path, name),
                        name,
                        "is set twice" + (inFile ? ", first in line " + firstPlace.line() : ""),
                        "keep one of them");
            }
        }
        return entries;
    }

    /// Notes that a node is of another kind than it should be.
    static void refuseKind(Node node, String path, String wanted, Problems problems) {
        String right = "write " + wanted;
        switch (node) {
            case Node.Scalar scalar
            when scalar.isNull() -> problems.add(scalar.place(), path, "", "has no value", right);
            case Node.Scalar scalar -> problems.add(scalar.place(), path, scalar.text(), "is a text", right);
            case Node.Sequence sequence -> problems.add(sequence.place(), path, "", "is a list", right);
            case Node.Mapping mapping -> problems.add(mapping.place(), path, "", "is a map", right);
        }
    }

    static String pathTo(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    boolean has(String name) {
        return entries.containsKey(name);
    }

    String path(String name) {
        return pathTo(path, name);
    }

    Problems problems() {
        return problems;
    }

    /// The value of a setting; null when it is not there.
    @Nullable
    Node get(String name) {
        Node.Entry entry = entries.get(name);
        return entry == null ? null : entry.value();
    }

    /// The value of a setting that must be there; null, and noted, when it is not.
    @Nullable
    Node require(String name, String right) {
        Node node = get(name);
        if (node == null) {
            problems.add(place, path(name), "", "is not set", right);
        }
        return node;
    }

    /// What the grammar makes of a setting's text; null when it is not there, or wrong.
    <T> @Nullable T read(String name, Function<Expression, T> grammar) {
        Node node = get(name);
        return node == null ? null : read(node, path(name), grammar, problems);
    }

    /// What the grammar makes of a node's text; null when it is no text, or wrong.
    static <T> @Nullable T read(Node node, String path, Function<Expression, T> grammar, Problems problems) {
        if (node instanceof Node.Scalar scalar && !scalar.isNull()) {
            return Expression.read(scalar, path, problems, grammar);
        }
        refuseKind(node, path, "one text", problems);
        return null;
    }

    /// Refuses a setting for standing beside others, or without them.
    void refuse(String name, String wrong, String right) {
        Node.Entry entry = entries.get(name);
        problems.add(entry == null ? place : entry.name().place(), path(name), "", wrong, right);
    }
}
