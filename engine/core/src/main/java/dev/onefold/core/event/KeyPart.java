package dev.onefold.core.event;

import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Identity.PartType;
import dev.onefold.core.pipeline.Input;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads one part of a key or an id: its text is in `bytes` at `[from, to)`. Not thread-safe.
final class KeyPart {
    byte[] bytes = new byte[0];
    int from;
    int to;

    private final Fields fields;
    private final Scalars scalars;
    private final int slot;
    private final Identity.Part part;
    private final String setting;
    private final boolean isInteger;
    private final boolean refusesNumbers;
    private final boolean refusesEmpty;
    private final byte @Nullable [] missing;
    private final int element;
    private final Fields ofElement;

    /// @param setting that names the part
    KeyPart(Identity.Part part, String setting, Input input, Fields fields, Scalars scalars) {
        this.part = part;
        this.fields = fields;
        this.scalars = scalars;
        slot = fields.slot(part.field());
        element = part.element();
        ofElement = new Fields(List.of(part.field()));
        this.setting = setting;
        isInteger = part.type() == PartType.INTEGER;
        refusesNumbers = part.type() == null && input.readsBy(Edition.OF_VALUES);
        refusesEmpty =
                refusesNumbers && !(input.format() instanceof Input.Format.Changes) && !"".equals(part.missing());
        missing = part.missing() == null ? null : bytes(part.missing(), scalars);
    }

    FieldPath path() {
        return fields.paths.get(slot);
    }

    /// The text that stands for a missing field, in the form in which a text is compared.
    private static byte[] bytes(String text, Scalars scalars) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return scalars.isNormalized(bytes, 0, bytes.length) ? Arrays.copyOf(scalars.bytes, scalars.textLength) : bytes;
    }

    /// Reads the part from the fields; `null`, or the problem.
    @Nullable
    String read() {
        if (element == Identity.Part.WHOLE || fields.isMissing(slot)) {
            return read(fields, slot);
        }
        if (fields.kind[slot] != Fields.COMPOSITE || fields.bytes[fields.from[slot]] != '[') {
            return "is not an array; its element " + element + " is part of the key";
        }
        find();
        String wrong = read(ofElement, 0);
        return wrong == null ? null : "has an element " + element + " that " + wrong;
    }

    /// Finds the element. The bytes were found to be JSON.
    private void find() {
        ofElement.clear(fields.bytes);
        int depth = 0;
        int nth = 0;
        int end = fields.to[slot];
        for (int at = fields.from[slot] + 1; at < end; at++) {
            byte b = fields.bytes[at];
            if (depth == 0 && nth == element && b > ' ' && b != ',' && b != ']') {
                set(at, end);
                return;
            }
            switch (b) {
                case '"' -> at = behindText(at) - 1;
                case '{', '[' -> depth++;
                case '}', ']' -> depth--;
                case ',' -> nth += depth == 0 ? 1 : 0;
                default -> {}
            }
        }
    }

    private void set(int at, int end) {
        byte first = fields.bytes[at];
        if (first == '"') {
            int behind = behindText(at);
            boolean isEscaped = false;
            for (int i = at + 1; i < behind - 1; i++) {
                isEscaped |= fields.bytes[i] == '\\';
            }
            ofElement.set(0, isEscaped ? Fields.ESCAPED_TEXT : Fields.TEXT, at + 1, behind - 1);
            return;
        }
        int behind = at;
        while (behind < end
                && fields.bytes[behind] > ' '
                && fields.bytes[behind] != ','
                && fields.bytes[behind] != ']') {
            behind++;
        }
        byte kind = switch (first) {
            case 't' -> Fields.TRUE;
            case 'f' -> Fields.FALSE;
            case 'n' -> Fields.NULL;
            case '{', '[' -> Fields.COMPOSITE;
            default -> Fields.NUMBER;
        };
        ofElement.set(0, kind, at, behind);
    }

    private int behindText(int at) {
        int end = at + 1;
        while (fields.bytes[end] != '"') {
            end += fields.bytes[end] == '\\' ? 2 : 1;
        }
        return end + 1;
    }

    private @Nullable String read(Fields fields, int slot) {
        if (fields.isMissing(slot)) {
            if (missing == null) {
                return fields.kind[slot] == Fields.MISSING
                        ? "is missing; it is part of the key"
                        : "is null; it is part of the key. If it may be, write for it under " + setting + ": "
                                + written("missing", "");
            }
            take(missing, 0, missing.length);
            return null;
        }
        byte kind = fields.kind[slot];
        if (kind == Fields.TEXT) {
            take(fields.bytes, fields.from[slot], fields.to[slot]);
        } else if (isInteger && kind == Fields.LOCAL_TEXT && scalars.isEscaped(fields, slot)) {
            take(scalars.bytes, 0, scalars.textLength);
        } else {
            int length = scalars.text(fields, slot, 0);
            if (length < 0) {
                return "is not text or a number; it is part of the key";
            }
            take(scalars.bytes, 0, length);
        }
        if (isInteger) {
            return integer(fields, slot);
        }
        if (refusesEmpty && from == to) {
            return "is an empty text; it is part of the key. If it may be, write for it under " + setting + ": "
                    + written("type", PartType.TEXT.word());
        }
        if (refusesNumbers && kind != Fields.NUMBER && isUnusual(kind)) {
            String text = Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot]);
            String number = scalars.integer(bytes, from, to) < 0
                    ? ""
                    : written("type", PartType.INTEGER.word()) + " if it is a number, ";
            return "is the text " + text + "; as a key it would differ from other spellings of this number. Write for"
                    + " it under " + setting + ": " + number + written("type", PartType.TEXT.word())
                    + " if it is a text";
        }
        if (scalars.isNormalized(bytes, from, to)) {
            take(scalars.bytes, 0, scalars.textLength);
        }
        return null;
    }

    /// Whether it is a number in another form than Onefold writes it.
    private boolean isUnusual(byte kind) {
        if (kind == Fields.LOCAL_TEXT && scalars.isEscaped(fields, slot)) {
            if (Decimals.parse(scalars.bytes, 0, scalars.textLength) != null) {
                take(scalars.bytes, 0, scalars.textLength);
                return true;
            }
            take(fields.bytes, fields.from[slot], fields.to[slot]);
        }
        return Scalars.isUnusualNumber(bytes, from, to);
    }

    private @Nullable String integer(Fields fields, int slot) {
        int length = scalars.integer(bytes, from, to);
        if (length < 0) {
            return "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                    + ", which is not an integer; it is part of the key";
        }
        take(scalars.bytes, 0, length);
        return null;
    }

    private void take(byte[] source, int sourceFrom, int sourceTo) {
        bytes = source;
        from = sourceFrom;
        to = sourceTo;
    }

    /// The part with one more setting, as it may stand in a pipeline file.
    private String written(String name, String value) {
        StringBuilder written = new StringBuilder(Malformed.part(path(), name, value));
        written.setLength(written.length() - 1);
        if (part.type() != null && !name.equals("type")) {
            written.append(",\"type\":\"").append(part.type().word()).append('"');
        }
        if (part.missing() != null && !name.equals("missing")) {
            written.append(",\"missing\":").append(Malformed.quoted(part.missing()));
        }
        return written.append(element == Identity.Part.WHOLE ? "" : ",\"element\":" + element)
                .append('}')
                .toString();
    }
}
