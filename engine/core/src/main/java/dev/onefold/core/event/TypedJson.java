package dev.onefold.core.event;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.codec.Reshaped;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Records of one type as JSON objects for a program in another language, and back, as the bytes of a
/// [dev.onefold.core.codec.Codec]. No value passes through a binary fraction:
///
///     boolean           true, false
///     int               number
///     long              number; beyond 2^53 a text, because many readers would round the number
///     decimal           text of a plain number
///     text, enum        text
///     time, date        text, ISO-8601; a time is in UTC
///     duration          text, ISO-8601
///     optional value    null if there is none
///
/// A program may write each number as a number or as a text. It is not thread-safe.
public final class TypedJson {
    private static final long EXACT_MAX = (1L << 53) - 1; // In a binary fraction of 64 bits.

    private final Type.Fields type;
    private final Names names;
    private final Fields fields;
    private final JsonScanner scanner;
    private final ContentReader reader;
    private final BytesOut scratch = new BytesOut();

    /// The names of a record's components, and of the records in it.
    ///
    /// @param stored with their lengths before them
    /// @param written with quotes and a colon
    /// @param inner of the records in it, by component; `null` in the place of one that has none
    private record Names(
            byte[][] stored, byte[][] written, @Nullable Names[] inner) {
        static Names of(Type.Fields type) {
            int count = type.components().size();
            Names names = new Names(new byte[count][], new byte[count][], new Names[count]);
            for (int i = 0; i < count; i++) {
                Type.Component component = type.components().get(i);
                List<String> path = component.path().names();
                String member = path.size() == 1 ? path.getFirst() : component.name();
                names.stored[i] = new BytesOut().text(component.name()).toBytes();
                names.written[i] = (new Value.Text(member, false).toJson() + ":").getBytes(StandardCharsets.UTF_8);
                names.inner[i] = inner(component.type());
            }
            return names;
        }

        private static @Nullable Names inner(Type type) {
            return switch (type) {
                case Type.Fields fields -> of(fields);
                case Type.Maybe(Type some) -> inner(some);
                case Type.Items(Type item) -> inner(item);
                case Type.Scalar _, Type.Enumeration _ -> null;
            };
        }
    }

    public TypedJson(Type.Fields type) {
        this.type = type;
        names = Names.of(type);
        fields = new Fields(type.components().stream().map(Type.Component::path).toList());
        scanner = new JsonScanner(fields);
        reader = ContentReader.of(type, fields, new ContentScalars(new Scalars(Input.Spellings.NONE), new Times()));
    }

    /// The record that is a member of an object.
    ///
    /// @param object the JSON text of the object
    /// @return the bytes of a codec
    /// @throws ShapeException if the text is not a JSON object, or the member does not fit the type
    public byte[] member(byte[] object, String member) {
        Fields one = found(object, member);
        if (one.kind[0] != Fields.COMPOSITE) {
            throw new ShapeException("it has no object '" + member + "'");
        }
        return read(one.bytes, one.from[0], one.to[0]);
    }

    private static Fields found(byte[] object, String member) {
        Fields one = new Fields(List.of(FieldPath.of(member)));
        byte[] padded = Arrays.copyOf(object, object.length + JsonScanner.PADDING);
        Malformed malformed = new JsonScanner(one).scan(padded, 0, object.length);
        if (malformed != null) {
            throw new ShapeException(malformed.message());
        }
        return one;
    }

    byte[] read(byte[] bytes, int from, int to) {
        Malformed malformed = scanner.scan(bytes, from, to);
        scratch.clear();
        malformed = malformed == null ? reader.write(scratch) : malformed;
        if (malformed != null) {
            throw new ShapeException(malformed.message());
        }
        return scratch.toBytes();
    }

    /// Writes a record as an object.
    ///
    /// @param record as a codec has written it, from the offset `from` on
    /// @param defaults source of components that the bytes do not have; `null`: only optional ones may be missing
    /// @throws ShapeException if the record does not fit the type
    public void write(byte[] record, int from, byte @Nullable [] defaults, BytesOut out) {
        BytesOut json = new BytesOut();
        if (!fields(new BytesIn(record, from, record.length), names, json)) {
            json.clear();
            byte[] fitted = Reshaped.fitted(record, from, type, defaults);
            if (!fields(new BytesIn(fitted), names, json)) {
                throw new IllegalStateException("A record that was brought to a type does not have it: " + type);
            }
        }
        json.appendTo(out);
    }

    /// Whether the components are those of the type, in its order; else it writes a part.
    private static boolean fields(BytesIn in, Names names, BytesOut out) {
        int count = in.count();
        if (count != names.stored.length) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (!in.take(names.stored[i])) {
                return false;
            }
            out.octet(i == 0 ? '{' : ',').raw(names.written[i], 0, names.written[i].length);
            if (!value(in.octet(), in, names.inner[i], out)) {
                return false;
            }
        }
        if (count == 0) {
            out.octet('{');
        }
        out.octet('}');
        return true;
    }

    private static boolean value(int tag, BytesIn in, @Nullable Names inner, BytesOut out) {
        switch (tag) {
            case ValueBytes.RECORD -> {
                return inner != null && fields(in, inner, out);
            }
            case ValueBytes.LIST -> {
                int count = in.count();
                out.octet('[');
                for (int i = 0; i < count; i++) {
                    if (i > 0) {
                        out.octet(',');
                    }
                    if (!value(in.octet(), in, inner, out)) {
                        return false;
                    }
                }
                out.octet(']');
            }
            case ValueBytes.TEXT, ValueBytes.NAME -> text(in.bytes(), out);
            case ValueBytes.INT, ValueBytes.LONG -> {
                long number = in.signed();
                boolean exact = Math.abs(number) <= EXACT_MAX && number != Long.MIN_VALUE;
                ascii(exact ? Long.toString(number) : "\"" + number + "\"", out);
            }
            case ValueBytes.DECIMAL -> {
                Value value = Value.read(tag, in);
                ascii("\"" + (value.plain() instanceof BigDecimal number ? number.toPlainString() : "") + "\"", out);
            }
            default -> ascii(Value.read(tag, in).toJson(), out);
        }
        return true;
    }

    private static void text(byte[] utf8, BytesOut out) {
        for (byte b : utf8) {
            if (b >= 0 && b < ' ' || b == '"' || b == '\\') {
                byte[] json = new Value.Text(new String(utf8, StandardCharsets.UTF_8), false)
                        .toJson()
                        .getBytes(StandardCharsets.UTF_8);
                out.raw(json, 0, json.length);
                return;
            }
        }
        out.octet('"').raw(utf8, 0, utf8.length).octet('"');
    }

    private static void ascii(String json, BytesOut out) {
        for (int i = 0; i < json.length(); i++) {
            out.octet(json.charAt(i));
        }
    }

    /// The items of a JSON array, one after the other, in JSON that was checked. It is not thread-safe.
    public static final class Items {
        private final byte[] bytes;
        private @Nullable Items inner; // Of this item, if it is an array that was asked for.
        private int at; // The item, or the closing bracket.
        private int end; // Behind the item; -1 if it is not known yet.

        /// @param from the offset of the opening bracket
        private Items(byte[] bytes, int from) {
            this.bytes = bytes;
            at = from;
            end = from;
        }

        /// The items of the array that is a member of an object.
        ///
        /// @param object the JSON text of the object
        /// @throws ShapeException if the text is not a JSON object, or the member is not an array
        public static Items of(byte[] object, String member) {
            Fields found = found(object, member);
            if (found.kind[0] != Fields.COMPOSITE || found.bytes[found.from[0]] != '[') {
                throw new ShapeException("it has no array '" + member + "'");
            }
            return new Items(found.bytes, found.from[0]);
        }

        /// Goes to the next item.
        ///
        /// @return whether there is one
        public boolean next() {
            if (!isAtEnd()) {
                at = next(bytes, end());
                end = -1;
                inner = null;
            }
            return !isAtEnd();
        }

        private boolean isAtEnd() {
            return end < 0 && bytes[at] == ']';
        }

        private int end() {
            if (end < 0) {
                end = inner != null && inner.isAtEnd() ? inner.at + 1 : end(bytes, at);
            }
            return end;
        }

        /// The first byte of the item.
        public char first() {
            return (char) bytes[at];
        }

        /// The items of the item, which is an array.
        ///
        /// @throws ShapeException if it is not
        public Items items() {
            if (bytes[at] != '[') {
                throw new ShapeException("it has " + excerpt() + " where an array is wanted");
            }
            inner = new Items(bytes, at);
            return inner;
        }

        /// The text of the item.
        ///
        /// @throws ShapeException if it is not a text
        public String text() {
            if (bytes[at] != '"') {
                throw new ShapeException("it has " + excerpt() + " where a text is wanted");
            }
            Fields one = new Fields(List.of(FieldPath.of("text")));
            one.clear(bytes);
            one.set(0, Fields.ESCAPED_TEXT, at + 1, end() - 1);
            return one.text(0);
        }

        /// The record of the item, which is an object.
        ///
        /// @return the bytes of a [dev.onefold.core.codec.Codec]
        /// @throws ShapeException if it does not fit the type
        public byte[] record(TypedJson type) {
            return type.read(bytes, at, end());
        }

        private String excerpt() {
            return Malformed.excerpt(bytes, at, end());
        }

        /// The first byte of the next item, or the closing bracket.
        ///
        /// @param separator the offset of the opening bracket, or behind an item
        static int next(byte[] bytes, int separator) {
            int at = bytes[separator] == '[' ? separator + 1 : separator;
            while (bytes[at] <= ' ' || bytes[at] == ',') {
                at++;
            }
            return at;
        }

        /// The offset behind the value at `from`, in JSON that was checked.
        static int end(byte[] bytes, int from) {
            int at = from;
            int depth = 0;
            do {
                switch (bytes[at]) {
                    case '"' -> {
                        at++;
                        while (bytes[at] != '"') {
                            at += bytes[at] == '\\' ? 2 : 1;
                        }
                        at++;
                    }
                    case '[', '{' -> {
                        depth++;
                        at++;
                    }
                    case ']', '}' -> {
                        depth--;
                        at++;
                    }
                    case ',', ':', ' ', '\t', '\r', '\n' -> at++;
                    default -> {
                        while (",]} \t\r\n".indexOf(bytes[at]) < 0) {
                            at++;
                        }
                    }
                }
            } while (depth > 0);
            return at;
        }
    }
}
