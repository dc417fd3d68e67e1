package dev.onefold.core.document;

import java.util.List;

/// A part of a document, with the place where it begins. What YAML, JSON and the fluent API all become.
public sealed interface Node {
    TextPlace place();

    /// A text as it is after quotes and escapes are read. `runs` says where the text stands, in rising order of
    /// offset; without runs it stands at `place`, as it is.
    record Scalar(String text, boolean quoted, TextPlace place, List<Run> runs) implements Node {
        public Scalar {
            runs = List.copyOf(runs);
        }

        /// A text that stands in no file.
        public static Scalar of(String text) {
            return new Scalar(text, true, TextPlace.START, List.of());
        }

        /// Where the character at this offset (in UTF-16 units, the end of the text included) stands in the document.
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

        /// Whether it stands for no value: unquoted and empty, `null` or `~`.
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

        /// A list that stands in no file.
        public static Sequence of(List<? extends Node> items) {
            return new Sequence(List.copyOf(items), TextPlace.START);
        }
    }

    /// Names with values, in their order; a name may still be there twice.
    record Mapping(List<Entry> entries, TextPlace place) implements Node {
        public Mapping {
            entries = List.copyOf(entries);
        }

        /// A map that stands in no file.
        public static Mapping of(List<Entry> entries) {
            return new Mapping(entries, TextPlace.START);
        }
    }

    /// A name and its value.
    record Entry(Scalar name, Node value) {
        /// An entry that stands in no file.
        public static Entry of(String name, Node value) {
            return new Entry(Scalar.of(name), value);
        }
    }
}
