package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.shape.Value;
import java.util.Arrays;

/// A record as the bytes of a [Codec], in the place of a Java record: a context or a row of a function that is not
/// written in Java. Records with the same bytes are equal. Its bytes are not changed.
public record StoredRecord(byte[] bytes) {
    /// The value of a component.
    ///
    /// @throws ShapeException if there is no such component
    public Value component(String name) {
        BytesIn in = new BytesIn(bytes);
        for (int left = in.count(); left > 0; left--) {
            if (in.text().equals(name)) {
                return Value.read(in.octet(), in);
            }
            ValueBytes.skip(in);
        }
        throw new ShapeException("There is no component " + name + " in " + this);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoredRecord(byte[] others) && Arrays.equals(bytes, others);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return Value.read(bytes).toJson();
    }
}
