package dev.onefold.core.event;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.pipeline.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Reads the fields of a record that a user's function takes, and writes them as the bytes of a
/// [dev.onefold.core.codec.Codec]. A field that does not fit its type is refused. Nested records and lists are read
/// again from their part of the record, which a scanner has checked. It is not thread-safe.
final class ContentReader {
    private final Fields fields;
    private final byte[][] names; // As they are stored, each with its length before it.
    private final Place[] places;

    private ContentReader(Type.Fields type, Fields fields, Function<Type.Component, Place> place) {
        this.fields = fields;
        names = type.components().stream()
                .map(component -> new BytesOut().text(component.name()).toBytes())
                .toArray(byte[][]::new);
        places = type.components().stream().map(place).toArray(Place[]::new);
    }

    /// The reader of an event.
    ///
    /// @param fields the fields of all components
    /// @throws ShapeException if no record of the input's format can have a component
    static ContentReader of(Type.Fields event, Input input, Fields fields, ContentScalars scalars) {
        if (input.format() instanceof Format.Csv csv) {
            event.components().stream()
                    .filter(component -> input.let(component.path()) == null)
                    .forEach(component -> refuseUnlessColumn(component, csv));
        }
        return new ContentReader(
                event,
                fields,
                component -> new Place(
                        component.name(),
                        fields.slot(component.path()),
                        component.type(),
                        time(component.path(), input),
                        scalars));
    }

    /// The reader of an object whose members have the names of the components, and whose times are ISO-8601.
    static ContentReader of(Type.Fields type, Fields fields, ContentScalars scalars) {
        return new ContentReader(
                type,
                fields,
                component -> new Place(
                        component.name(), fields.slot(component.path()), component.type(), TimeType.ISO, scalars));
    }

    private static TimeType time(FieldPath path, Input input) {
        if (input.time() != null && input.time().field().equals(path)) {
            return input.time().type();
        }
        boolean isVersion =
                input.identity() instanceof Identity.Versioned versioned && path.equals(versioned.version());
        TimeType version = isVersion ? ((Identity.Versioned) input.identity()).versionTime() : null;
        return version == null ? TimeType.AUTO : version;
    }

    private static void refuseUnlessColumn(Type.Component component, Format.Csv csv) {
        Type type = component.type() instanceof Type.Maybe(Type inner) ? inner : component.type();
        String name = "component " + component.name() + " of the event ";
        if (type instanceof Type.Fields || type instanceof Type.Items) {
            throw new ShapeException(name + "is " + type + "; a csv record has neither lists nor nested records");
        }
        List<String> path = component.path().names();
        if (path.size() > 1) {
            throw new ShapeException(name + "is a path; a csv record has columns only");
        }
        if (!csv.columns().isEmpty() && !csv.columns().contains(path.getFirst())) {
            throw new ShapeException(name + "is none of input.columns: " + String.join(", ", csv.columns()));
        }
    }

    /// Writes the fields as they were last scanned; `null`, or the reason why they are refused.
    @Nullable
    Malformed write(BytesOut out) {
        out.number(places.length);
        for (int i = 0; i < places.length; i++) {
            out.raw(names[i], 0, names[i].length);
            Malformed malformed = places[i].write(fields, out);
            if (malformed != null) {
                return malformed;
            }
        }
        return null;
    }

    /// A component, or the items of a list.
    private static final class Place {
        private final String path;
        private final int slot;
        private final Type type;
        private final boolean optional;
        private final TimeType time;
        private final ContentScalars scalars;
        private final byte[][] constants;
        private final byte[][] storedConstants;
        private Fields inner = new Fields(List.of()); // Of a nested record, or of one item at a time.
        private @Nullable JsonScanner scanner;
        private @Nullable ContentReader record;
        private @Nullable Place item;

        Place(String path, int slot, Type declared, TimeType time, ContentScalars scalars) {
            this.path = path;
            this.slot = slot;
            this.time = time;
            this.scalars = scalars;
            optional = declared instanceof Type.Maybe;
            type = declared instanceof Type.Maybe(Type value) ? value : declared;
            List<String> names = type instanceof Type.Enumeration some ? some.names() : List.of();
            constants = names.stream()
                    .map(name -> name.getBytes(StandardCharsets.UTF_8))
                    .toArray(byte[][]::new);
            storedConstants = names.stream()
                    .map(name ->
                            new BytesOut().octet(ValueBytes.NAME).text(name).toBytes())
                    .toArray(byte[][]::new);
            if (type instanceof Type.Fields nested) {
                Fields fields = new Fields(
                        nested.components().stream().map(Type.Component::path).toList());
                inner = fields;
                scanner = new JsonScanner(fields);
                record = new ContentReader(nested, fields, component -> {
                    String name = path + "." + component.name();
                    return new Place(name, fields.slot(component.path()), component.type(), time, scalars);
                });
            } else if (type instanceof Type.Items(Type value)) {
                inner = new Fields(List.of(FieldPath.of(path + "[]")));
                item = new Place(path + "[]", 0, value, time, scalars);
            }
        }

        @Nullable
        Malformed write(Fields fields, BytesOut out) {
            if (fields.isMissing(slot)) {
                if (!optional) {
                    return Malformed.field(path, "is missing, and " + type + " is wanted");
                }
                out.octet(ValueBytes.ABSENT);
                return null;
            }
            return switch (type) {
                case Type.Scalar scalar -> {
                    String wrong = scalars.write(scalar, time, fields, slot, out);
                    yield wrong == null ? null : Malformed.field(path, wrong);
                }
                case Type.Enumeration names -> constant(names, fields, out);
                case Type.Fields _ -> record(fields, out);
                case Type.Items _ -> list(fields, out);
                case Type.Maybe _ -> throw new IllegalStateException("An optional value is optional twice: " + path);
            };
        }

        private @Nullable Malformed constant(Type.Enumeration names, Fields fields, BytesOut out) {
            if (fields.kind[slot] != Fields.NUMBER && scalars.find(fields, slot)) {
                for (int i = 0; i < constants.length; i++) {
                    if (scalars.found(constants[i])) {
                        out.raw(storedConstants[i], 0, storedConstants[i].length);
                        return null;
                    }
                }
            }
            String wanted = "one of " + String.join(", ", names.names());
            return Malformed.field(path, ContentScalars.misfit(fields, slot, wanted));
        }

        private @Nullable Malformed record(Fields fields, BytesOut out) {
            int from = fields.from[slot];
            if (scanner == null || record == null || !isComposite(fields, '{')) {
                return Malformed.field(path, ContentScalars.misfit(fields, slot, "a JSON object"));
            }
            Malformed malformed = scanner.scan(fields.bytes, from, fields.to[slot]);
            if (malformed != null) {
                return Malformed.field(path, "cannot be read: " + malformed.message());
            }
            return record.write(out.octet(ValueBytes.RECORD));
        }

        private @Nullable Malformed list(Fields fields, BytesOut out) {
            if (item == null || !isComposite(fields, '[')) {
                return Malformed.field(path, ContentScalars.misfit(fields, slot, "a JSON array"));
            }
            byte[] bytes = fields.bytes;
            int count = 0;
            for (int at = TypedJson.Items.next(bytes, fields.from[slot]);
                    bytes[at] != ']';
                    at = TypedJson.Items.next(bytes, TypedJson.Items.end(bytes, at))) {
                count++;
            }
            out.octet(ValueBytes.LIST).number(count);
            inner.clear(bytes);
            int at = TypedJson.Items.next(bytes, fields.from[slot]);
            for (int left = count; left > 0; left--) {
                int end = TypedJson.Items.end(bytes, at);
                boolean text = bytes[at] == '"';
                inner.set(0, kind(bytes, at, end), text ? at + 1 : at, text ? end - 1 : end);
                Malformed malformed = item.write(inner, out);
                if (malformed != null) {
                    return malformed;
                }
                at = left == 1 ? at : TypedJson.Items.next(bytes, end);
            }
            return null;
        }

        private boolean isComposite(Fields fields, char first) {
            return fields.kind[slot] == Fields.COMPOSITE && fields.bytes[fields.from[slot]] == first;
        }

        private static byte kind(byte[] bytes, int from, int to) {
            if (bytes[from] != '"') {
                return JsonScanner.kind(bytes[from]);
            }
            for (int i = from; i < to; i++) {
                if (bytes[i] == '\\') {
                    return Fields.ESCAPED_TEXT;
                }
            }
            return Fields.TEXT;
        }
    }
}
