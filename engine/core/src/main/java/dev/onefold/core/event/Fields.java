package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The fields of one record that a pipeline reads: for each, the kind of its value, and the range of the
/// value in the record's bytes. Filled by a scanner, read by the decoder, and used again for the next record.
/// Not thread-safe.
final class Fields {
    static final byte MISSING = 0;
    static final byte NULL = 1;
    /// Text without escapes; its range is that between the quotes.
    static final byte TEXT = 2;
    /// Text with escapes that are not read yet.
    static final byte ESCAPED_TEXT = 3;
    static final byte NUMBER = 4;
    static final byte TRUE = 5;
    static final byte FALSE = 6;
    /// An object or array.
    static final byte COMPOSITE = 7;
    /// CSV text in quotes that has doubled quotes or escapes in it.
    static final byte DOUBLED_TEXT = 8;
    /// CSV text that is perhaps a number, in the form of [#numbers].
    static final byte LOCAL_TEXT = 9;
    /// CSV text without quotes that has escapes in it; a quote is a character of it.
    static final byte BARE_TEXT = 10;

    final List<FieldPath> paths;
    final byte[] kind;
    final int[] from;
    final int[] to;
    byte[] bytes = new byte[0];
    /// The quote that is doubled in a [#DOUBLED_TEXT].
    byte quote = '"';
    /// In front of a character of a [#DOUBLED_TEXT]; 0 if there is none.
    byte escape;
    /// The form of a number in a [#LOCAL_TEXT]; `null` if there are none.
    @Nullable
    LocalNumbers numbers;

    /// By slot: what the record's schema says of a time; `null` if it says nothing of any.
    ConnectSchemas.@Nullable Time @Nullable [] times;

    /// Whether a text may be the bytes of a decimal whose scale the record does not say.
    boolean lacksSchema;

    /// Whether the records are of CSV.
    boolean isCsv;

    Fields(List<FieldPath> paths) {
        this.paths = List.copyOf(paths);
        kind = new byte[paths.size()];
        from = new int[paths.size()];
        to = new int[paths.size()];
    }

    void clear(byte[] record) {
        bytes = record;
        times = null;
        lacksSchema = false;
        Arrays.fill(kind, MISSING);
    }

    void set(int slot, byte slotKind, int slotFrom, int slotTo) {
        kind[slot] = slotKind;
        from[slot] = slotFrom;
        to[slot] = slotTo;
    }

    /// The bytes of a text whose escapes are read.
    byte[] unescaped(int slot) {
        byte[] text = new byte[to[slot] - from[slot]];
        return Arrays.copyOf(text, TextBytes.unescape(bytes, from[slot], to[slot], text, 0));
    }

    /// The text of a field in JSON, with its escapes read; empty if the field is missing.
    String text(int slot) {
        return kind[slot] == ESCAPED_TEXT
                ? new String(unescaped(slot), StandardCharsets.UTF_8)
                : isMissing(slot) ? "" : new String(bytes, from[slot], to[slot] - from[slot], StandardCharsets.UTF_8);
    }

    boolean isMissing(int slot) {
        return kind[slot] <= NULL;
    }

    int slot(FieldPath path) {
        int slot = paths.indexOf(path);
        if (slot < 0) {
            throw new IllegalStateException("Field " + path + " was not planned for");
        }
        return slot;
    }
}
