package dev.onefold.core.pipeline;

import java.util.List;

/// Where a field stands in a record: the names from the top, at most [Limits#NESTING_MAX].
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

    /// As it is written in a pipeline file: names with anything but letters, digits, `_`, `-` and `@` are quoted.
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
        return !name.isEmpty()
                && name.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '_' || c == '-' || c == '@');
    }
}
