package dev.onefold.core.event;

import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Identity.PartType;
import dev.onefold.core.pipeline.Input;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Reads one part of a key or an id: its text is in `bytes` at `[from, to)`. Not thread-safe.
final class KeyPart {
    byte[] bytes = new byte[0];
    int from;
    int to;

    private final Fields fields;
    private final Scalars scalars;
    private final int slot;
    private final String setting;
    private final boolean isInteger;
    private final boolean refusesNumbers;
    private final byte @Nullable [] missing;

    KeyPart(Identity.Part part, Input input, Fields fields, Scalars scalars) {
        this.fields = fields;
        this.scalars = scalars;
        slot = fields.slot(part.field());
        setting = input.identity() instanceof Identity.ById ? "id" : "key";
        isInteger = part.type() == PartType.INTEGER;
        refusesNumbers = part.type() == null && input.readsBy(Edition.OF_VALUES);
        missing = part.missing() == null ? null : part.missing().getBytes(StandardCharsets.UTF_8);
    }

    FieldPath path() {
        return fields.paths.get(slot);
    }

    /// Reads the part from the fields; `null`, or the problem.
    @Nullable
    String read() {
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
            return integer();
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

    private @Nullable String integer() {
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
        return Malformed.part(path(), name, value);
    }
}
