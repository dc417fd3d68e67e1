package dev.onefold.tables;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Makes plain JSON of a table's attribute values: `{"N":"7.50"}` becomes `7.50`, with its digits as they are, because
/// arithmetic here is exact. Bytes become base64 text, and a set becomes an array.
public final class ItemJson {
    /// A table nests 32 levels, each of which takes two in the JSON of attribute values.
    private static final int NESTING_MAX = 100;

    private static final int TEXT_LENGTH_MAX = 16 << 20;

    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(NESTING_MAX)
                    .maxStringLength(TEXT_LENGTH_MAX)
                    .maxNameLength(TEXT_LENGTH_MAX)
                    .build())
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            // Names of attributes are a user's: any number of them, and none may fail a reading by its hash.
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
            .build();

    private ItemJson() {}

    /// The item as one line of plain JSON.
    ///
    /// @throws IllegalArgumentException if a value has a type that is not known
    public static byte[] of(Map<String, AttributeValue> item) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        write(item, bytes);
        return bytes.toByteArray();
    }

    /// Writes the item as plain JSON.
    ///
    /// @throws IllegalArgumentException if a value has a type that is not known
    static void write(Map<String, AttributeValue> item, OutputStream to) {
        try (JsonGenerator generator = FACTORY.createGenerator(to)) {
            write(item, generator);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static void write(Map<String, AttributeValue> item, JsonGenerator to) throws IOException {
        to.writeStartObject();
        for (Map.Entry<String, AttributeValue> attribute : item.entrySet()) {
            to.writeFieldName(attribute.getKey());
            write(attribute.getValue(), to);
        }
        to.writeEndObject();
    }

    private static void write(AttributeValue value, JsonGenerator to) throws IOException {
        switch (value.type()) {
            case S -> to.writeString(value.s());
            case N -> to.writeNumber(value.n());
            case B -> to.writeString(base64(value.b()));
            case BOOL -> to.writeBoolean(value.bool());
            case NUL -> to.writeNull();
            case M -> write(value.m(), to);
            case L -> {
                to.writeStartArray();
                for (AttributeValue each : value.l()) {
                    write(each, to);
                }
                to.writeEndArray();
            }
            case SS ->
                to.writeArray(value.ss().toArray(new String[0]), 0, value.ss().size());
            case NS -> {
                to.writeStartArray();
                for (String each : value.ns()) {
                    to.writeNumber(each);
                }
                to.writeEndArray();
            }
            case BS -> {
                String[] texts = value.bs().stream().map(ItemJson::base64).toArray(String[]::new);
                to.writeArray(texts, 0, texts.length);
            }
            case UNKNOWN_TO_SDK_VERSION ->
                throw new IllegalArgumentException("An attribute of an item has a type that is not known: " + value);
        }
    }

    private static String base64(SdkBytes bytes) {
        return Base64.getEncoder().encodeToString(bytes.asByteArrayUnsafe());
    }

    /// Copies the object of attribute values that begins at the parser's place, as plain JSON.
    public static void copyItem(JsonParser from, JsonGenerator to) throws IOException {
        expect(from, JsonToken.START_OBJECT);
        to.writeStartObject();
        while (from.nextToken() != JsonToken.END_OBJECT) {
            to.writeFieldName(from.currentName());
            from.nextToken();
            copyValue(from, to);
        }
        to.writeEndObject();
    }

    /// Copies the item of a line `{"Item":{…}}`, as an export has it.
    ///
    /// @throws IOException if the line is anything else
    static void copyExported(String line, OutputStream to) throws IOException {
        try (JsonParser from = FACTORY.createParser(line);
                JsonGenerator generator = FACTORY.createGenerator(to)) {
            if (from.nextToken() != JsonToken.START_OBJECT || !"Item".equals(from.nextFieldName())) {
                throw broken(from, "an object with 'Item' is expected");
            }
            from.nextToken();
            copyItem(from, generator);
            if (from.nextToken() != JsonToken.END_OBJECT || from.nextToken() != null) {
                throw broken(from, "an item has more than 'Item'");
            }
        }
    }

    private static void copyValue(JsonParser from, JsonGenerator to) throws IOException {
        expect(from, JsonToken.START_OBJECT);
        String type = from.nextFieldName();
        if (type == null) {
            throw broken(from, "an attribute value has no type");
        }
        from.nextToken();
        switch (type) {
            case "S", "B" -> to.writeString(text(from));
            case "N" -> to.writeNumber(number(from));
            case "BOOL" -> to.writeBoolean(from.getBooleanValue());
            case "NULL" -> {
                from.getBooleanValue();
                to.writeNull();
            }
            case "M" -> copyItem(from, to);
            case "L" -> copyList(from, to);
            case "SS", "BS" -> copySet(from, to, false);
            case "NS" -> copySet(from, to, true);
            default -> throw broken(from, "there is no attribute type " + type);
        }
        if (from.nextToken() != JsonToken.END_OBJECT) {
            throw broken(from, "an attribute value has two types");
        }
    }

    private static void copyList(JsonParser from, JsonGenerator to) throws IOException {
        expect(from, JsonToken.START_ARRAY);
        to.writeStartArray();
        while (from.nextToken() != JsonToken.END_ARRAY) {
            copyValue(from, to);
        }
        to.writeEndArray();
    }

    private static void copySet(JsonParser from, JsonGenerator to, boolean numbers) throws IOException {
        expect(from, JsonToken.START_ARRAY);
        to.writeStartArray();
        while (from.nextToken() != JsonToken.END_ARRAY) {
            if (numbers) {
                to.writeNumber(number(from));
            } else {
                to.writeString(text(from));
            }
        }
        to.writeEndArray();
    }

    private static String number(JsonParser from) throws IOException {
        String digits = text(from);
        if (!NUMBER.matcher(digits).matches()) {
            throw broken(from, "an attribute of type N is not a number");
        }
        return digits;
    }

    private static String text(JsonParser from) throws IOException {
        if (from.currentToken() == JsonToken.VALUE_NULL) {
            throw broken(from, "an attribute value is null");
        }
        if (from.currentToken() != JsonToken.VALUE_STRING) {
            throw broken(from, from.currentName() + " is " + from.currentToken() + ", not a text");
        }
        return from.getText();
    }

    private static void expect(JsonParser from, JsonToken begin) throws IOException {
        if (from.currentToken() != begin) {
            String what = begin == JsonToken.START_OBJECT ? "an object" : "an array";
            throw broken(from, what + " is expected, and there is " + from.currentToken());
        }
    }

    private static JsonParseException broken(JsonParser parser, String message) {
        return new JsonParseException(parser, message);
    }
}
