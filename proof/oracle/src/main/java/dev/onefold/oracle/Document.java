package dev.onefold.oracle;

import java.math.BigDecimal;
import java.text.Normalizer;
import java.time.ZoneId;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A record as a tree. A value is a text ([String]), a [Literal] number, a [Boolean], a [Document], a [List] or null.
///
/// @param fields the values by name; of a name that comes twice, the last
/// @param twice the names that come twice
/// @param spellings of its values
record Document(Map<String, @Nullable Object> fields, Set<String> twice, Spellings spellings) {
    Document(Map<String, @Nullable Object> fields, Set<String> twice) {
        this(fields, twice, Spellings.NONE);
    }

    /// How a pipeline reads values.
    ///
    /// @param truths texts that mean true, beside `true`
    /// @param falsehoods texts that mean false, beside `false`
    /// @param normalized whether texts of keys, levels, distinct and conditions are brought to the composed form
    /// @param zone of times without one; null refuses them
    /// @param fold `earlier`, `later`, or null
    record Spellings(
            Set<String> truths,
            Set<String> falsehoods,
            boolean normalized,
            @Nullable ZoneId zone,
            @Nullable String fold) {
        static final Spellings NONE = new Spellings(Set.of(), Set.of(), false, null, null);
    }

    /// The same, read in this way.
    Document with(Spellings others) {
        return new Document(fields, twice, others);
    }

    /// A value as the text of a key, a level, a distinct or a condition; null when it is missing.
    @Nullable
    String text(@Nullable Object value) {
        String text = Values.text(value);
        return text == null ? null : normal(text);
    }

    /// A text as texts are compared.
    String normal(String text) {
        return spellings.normalized ? Normalizer.normalize(text, Normalizer.Form.NFC) : text;
    }

    /// Whether a text means true; any that means neither is refused.
    boolean truth(String text) {
        boolean isTrue = text.equals("true") || isOneOf(spellings.truths, text);
        if (!isTrue && !text.equals("false") && !isOneOf(spellings.falsehoods, text)) {
            throw new Refused(text + " is neither true nor false");
        }
        return isTrue;
    }

    boolean isOneOf(Collection<String> texts, String text) {
        return texts.stream().map(this::normal).anyMatch(normal(text)::equals);
    }

    /// A value as seconds since 1970-01-01T00:00Z; null when it is missing.
    @Nullable
    BigDecimal time(@Nullable Object value, String type) {
        return Values.time(value, type, spellings);
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
