package dev.onefold.core.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A part of a document, with the place where it begins. YAML, JSON and the fluent API are all read into nodes.
public sealed interface Node {
    TextPlace place();

    /// The text of a scalar.
    ///
    /// @throws IllegalStateException if it is something else: for documents that Onefold has written itself
    default String text() {
        throw new IllegalStateException("A list or an object stands in the place of a text at " + place());
    }

    /// The items of a list.
    ///
    /// @throws IllegalStateException if it is something else: for documents that Onefold has written itself
    default List<Node> items() {
        throw new IllegalStateException("Something else stands in the place of a list at " + place());
    }

    /// The texts of a list of scalars.
    ///
    /// @throws IllegalStateException if it is something else: for documents that Onefold has written itself
    default List<String> texts() {
        return items().stream().map(Node::text).toList();
    }

    /// The names and values of a mapping; none if it is something else.
    default List<Entry> entries() {
        return List.of();
    }

    /// The first value of a name in a mapping; `null` if there is none.
    default @Nullable Node find(String name) {
        for (Entry entry : entries()) {
            if (entry.name().text().equals(name)) {
                return entry.value();
            }
        }
        return null;
    }

    /// The same where the name must be there.
    ///
    /// @throws IllegalStateException if it is not: for documents that Onefold has written itself
    default Node get(String name) {
        Node value = find(name);
        if (value == null) {
            throw new IllegalStateException("The object at " + place() + " does not have '" + name + "'");
        }
        return value;
    }

    /// A value that is not from a file: a text, a list or a map of such values, or a node.
    static Node of(Object value) {
        return switch (value) {
            case Node node -> node;
            case List<?> list -> new Sequence(list.stream().map(Node::of).toList(), TextPlace.START);
            case Map<?, ?> map -> {
                List<Entry> entries = new ArrayList<>();
                map.forEach((name, each) -> entries.add(entry(String.valueOf(name), each)));
                yield new Mapping(entries, TextPlace.START);
            }
            default -> new Scalar(value.toString(), true, TextPlace.START, List.of());
        };
    }

    /// A name and its value that are not from a file.
    static Entry entry(String name, Object value) {
        return new Entry(new Scalar(name, true, TextPlace.START, List.of()), of(value));
    }

    /// A text as it is after quotes and escapes are read. `runs` has the places of the text, in rising order
    /// of offset; without runs the text is at `place`, as it is.
    record Scalar(String text, boolean quoted, TextPlace place, List<Run> runs) implements Node {
        public Scalar {
            runs = List.copyOf(runs);
        }

        /// The place of the character at this offset (in UTF-16 units, the end of the text included) in the
        /// document.
        public TextPlace at(int offset) {
            int low = 0;
            int high = runs.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (runs.get(middle).offset() <= offset) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Run run = low == 0 ? new Run(0, place) : runs.get(low - 1);
            return run.place().right(text.codePointCount(run.offset(), offset));
        }

        /// Whether it means that there is no value: unquoted and empty, `null` or `~`.
        public boolean isNull() {
            return !quoted
                    && switch (text) {
                        case "", "~", "null", "Null", "NULL" -> true;
                        default -> false;
                    };
        }
    }

    /// From this offset of a scalar's text on, up to the next run, each code point of it is one column of the document,
    /// beginning here.
    record Run(int offset, TextPlace place) {}

    /// A list.
    record Sequence(List<Node> items, TextPlace place) implements Node {
        public Sequence {
            items = List.copyOf(items);
        }
    }

    /// Names with values, in their order; a name may still be there twice.
    record Mapping(List<Entry> entries, TextPlace place) implements Node {
        public Mapping {
            entries = List.copyOf(entries);
        }
    }

    /// A name and its value.
    record Entry(Scalar name, Node value) {}
}
