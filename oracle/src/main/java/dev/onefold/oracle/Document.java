package dev.onefold.oracle;

import java.text.Normalizer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A record as a tree. A value is a text ([String]), a [Literal] number, a [Boolean], a [Document], a [List] or null.
///
/// @param fields the values by name; of a name that comes twice, the last
/// @param twice the names that come twice
/// @param truths texts that mean true
/// @param falsehoods texts that mean false
/// @param normalized whether texts of keys, levels and distinct are brought to the composed form
record Document(Map<String, @Nullable Object> fields, Set<String> twice, Set<String> truths, Set<String> falsehoods,
        boolean normalized) {
    Document(Map<String, @Nullable Object> fields, Set<String> twice) {
        this(fields, twice, Set.of("true"), Set.of("false"), false);
    }

    /// The same, in which more texts are true or false.
    Document with(Set<String> moreTruths, Set<String> moreFalsehoods, boolean composed) {
        Set<String> allTruths = new HashSet<>(truths);
        allTruths.addAll(moreTruths);
        Set<String> allFalsehoods = new HashSet<>(falsehoods);
        allFalsehoods.addAll(moreFalsehoods);
        return new Document(fields, twice, Set.copyOf(allTruths), Set.copyOf(allFalsehoods), composed);
    }

    /// A value as the text of a key, a level or a distinct; null when it is missing.
    @Nullable
    String text(@Nullable Object value) {
        String text = Values.text(value);
        return text == null || !normalized ? text : Normalizer.normalize(text, Normalizer.Form.NFC);
    }

    /// Whether a text means true; any that means neither is refused.
    boolean truth(String text) {
        if (!truths.contains(text) && !falsehoods.contains(text)) {
            throw new Refused(text + " is neither true nor false");
        }
        return truths.contains(text);
    }

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
