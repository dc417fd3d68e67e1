package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Takes the event out of the records that carry it: out of a field that holds it as an object or as a JSON text, as
/// SNS puts an event into a message of SQS. Not thread-safe.
final class Envelopes {
    /// One field to be opened. Its text without escapes is in the scalars' buffer, which the next one reads.
    private record Layer(Fields field, JsonScanner scanner, Scalars scalars) {
        static Layer of(FieldPath path) {
            Fields field = new Fields(List.of(path));
            return new Layer(field, new JsonScanner(field), new Scalars());
        }
    }

    private final Layer[] layers;
    private byte[] event = new byte[0];
    private int from;
    private int to;

    /// @param paths the fields to be opened, the outermost first
    Envelopes(List<FieldPath> paths) {
        layers = paths.stream().map(Layer::of).toArray(Layer[]::new);
    }

    /// Finds the event in a record; `null`, or the reason why there is none.
    @Nullable
    Malformed open(byte[] record, int recordFrom, int recordTo) {
        event = record;
        from = recordFrom;
        to = recordTo;
        for (Layer layer : layers) {
            Malformed malformed = open(layer);
            if (malformed != null) {
                return malformed;
            }
        }
        return null;
    }

    private @Nullable Malformed open(Layer layer) {
        Malformed malformed = layer.scanner.scan(event, from, to);
        if (malformed != null) {
            return malformed;
        }
        Fields field = layer.field;
        FieldPath path = field.paths.getFirst();
        if (field.isMissing(0)) {
            return Malformed.field(path, "is missing; the event is inside of it ('unwrap')");
        }
        if (field.kind[0] == Fields.COMPOSITE) {
            from = field.from[0];
            to = field.to[0];
            return null;
        }
        int length = field.kind[0] == Fields.TEXT || field.kind[0] == Fields.ESCAPED_TEXT
                ? layer.scalars.text(field, 0, 0)
                : Scalars.NOT_TEXT;
        if (length < 0) {
            return Malformed.field(
                    path, "is neither an object nor a text with one; the event is inside of it ('unwrap')");
        }
        event = layer.scalars.bytes;
        from = 0;
        to = length;
        return null;
    }

    /// The bytes that hold the event at `[from, to)`, until the next record is opened.
    byte[] event() {
        return event;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }
}
