package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/// Reads the text that [Type.Fields#toString] writes. It is not thread-safe.
public final class TypeReader {
    // A record, a list and an Optional are levels of the text each.
    private static final int DEPTH_MAX = 4 * Limits.NESTING_MAX;

    private final String text;
    private int offset;
    private int depth;

    private TypeReader(String text) {
        this.text = text;
    }

    /// The type of a record.
    ///
    /// @throws IllegalArgumentException if the text is not one
    public static Type.Fields read(String text) {
        TypeReader reader = new TypeReader(text);
        reader.expect('{');
        Type.Fields fields = reader.fields();
        if (reader.offset < text.length()) {
            throw reader.broken("there is unexpected data after the type");
        }
        return fields;
    }

    private Type type() {
        if (++depth > DEPTH_MAX) {
            throw broken("it is nested too deep");
        }
        Type type;
        if (take('{')) {
            type = fields();
        } else if (take('[')) {
            type = new Type.Items(type());
            expect(']');
        } else if (take('(')) {
            type = new Type.Enumeration(list('|', ')', this::word));
        } else {
            String word = word();
            type = Type.Scalar.of(word).orElseThrow(() -> broken("'" + word + "' is not a type"));
        }
        depth--;
        return take('?') ? new Type.Maybe(type) : type;
    }

    private Type.Fields fields() {
        return new Type.Fields(take('}') ? List.of() : list(',', '}', this::component));
    }

    private Type.Component component() {
        int from = offset;
        boolean quoted = false;
        while (offset < text.length() && (quoted || text.charAt(offset) != ':')) {
            quoted ^= text.charAt(offset++) == '"';
        }
        String name = text.substring(from, offset);
        FieldPath path = FieldPath.read(name).orElseThrow(() -> broken("'" + name + "' is not the name of a field"));
        expect(':');
        skipSpace();
        return new Type.Component(path, type());
    }

    private <T> List<T> list(char separator, char end, Supplier<T> reader) {
        List<T> list = new ArrayList<>();
        do {
            skipSpace();
            list.add(reader.get());
        } while (take(separator));
        expect(end);
        return list;
    }

    private String word() {
        int from = offset;
        while (offset < text.length() && "|)}],? ".indexOf(text.charAt(offset)) < 0) {
            offset++;
        }
        if (offset == from) {
            throw broken("a word is expected");
        }
        return text.substring(from, offset);
    }

    private void skipSpace() {
        while (take(' ')) {
            // Until there is none.
        }
    }

    private boolean take(char wanted) {
        boolean isNext = offset < text.length() && text.charAt(offset) == wanted;
        offset += isNext ? 1 : 0;
        return isNext;
    }

    private void expect(char wanted) {
        if (!take(wanted)) {
            throw broken("'" + wanted + "' is expected");
        }
    }

    private IllegalArgumentException broken(String why) {
        return new IllegalArgumentException("A type cannot be read at character " + (offset + 1) + ": " + why);
    }
}
