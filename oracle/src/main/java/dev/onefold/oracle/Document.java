package dev.onefold.oracle;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A record as a tree. A value is a text ([String]), a [Literal] number, a [Boolean], a [Document], a [List] or null.
///
/// @param fields the values by name; of a name that comes twice, the last
/// @param twice the names that come twice
record Document(Map<String, @Nullable Object> fields, Set<String> twice) {
    /// A number as it was written.
    record Literal(String digits) {}

    /// What stands at the end of a path; null when it is missing.
    @Nullable
    Object at(List<String> path) {
        Object value = this;
        for (String name : path) {
            if (!(value instanceof Document inner)) {
                return null;
            }
            if (inner.twice.contains(name)) {
                throw new Refused("the field " + name + " comes twice");
            }
            value = inner.fields.get(name);
        }
        return value;
    }
}
