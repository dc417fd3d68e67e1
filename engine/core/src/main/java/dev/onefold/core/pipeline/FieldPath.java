package dev.onefold.core.pipeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The place of a field in a record: the names from the top, at most [Limits#NESTING_MAX].
public record FieldPath(List<String> names) {
    public FieldPath {
        names = List.copyOf(names);
        if (names.isEmpty() || names.size() > Limits.NESTING_MAX) {
            throw new IllegalArgumentException(
                    "A field path needs 1 to " + Limits.NESTING_MAX + " names, not " + names.size());
        }
    }

    /// The path of these names, outermost first; a name is taken as it is, dots included.
    public static FieldPath of(String... names) {
        return new FieldPath(List.of(names));
    }

    /// Reads a path as [#toString] writes it; empty if the text is not a path.
    public static Optional<FieldPath> read(String text) {
        List<String> names = new ArrayList<>();
        int at = 0;
        do {
            StringBuilder name = new StringBuilder();
            int from = at;
            if (at < text.length() && text.charAt(at) == '"') {
                at = quoted(text, at, name);
            } else {
                while (at < text.length() && isPlain(text.charAt(at))) {
                    name.append(text.charAt(at++));
                }
            }
            if (at == from || at < text.length() && text.charAt(at) != '.') {
                return Optional.empty();
            }
            names.add(name.toString());
        } while (at++ < text.length());
        return names.size() > Limits.NESTING_MAX ? Optional.empty() : Optional.of(new FieldPath(names));
    }

    /// The offset behind the closing quote; that of the name's beginning if there is no closing quote.
    private static int quoted(String text, int from, StringBuilder name) {
        for (int at = from + 1; at < text.length(); at++) {
            if (text.charAt(at) != '"') {
                name.append(text.charAt(at));
            } else if (at + 1 < text.length() && text.charAt(at + 1) == '"') {
                name.append('"');
                at++;
            } else {
                return at + 1;
            }
        }
        return from;
    }

    /// As it is written in a pipeline file: names with anything but letters, digits, `_`, `-` and `@` are
    /// quoted.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (String name : names) {
            if (!text.isEmpty()) {
                text.append('.');
            }
            text.append(isPlain(name) ? name : '"' + name.replace("\"", "\"\"") + '"');
        }
        return text.toString();
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty() && name.chars().allMatch(FieldPath::isPlain);
    }

    private static boolean isPlain(int c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '-' || c == '@';
    }
}
