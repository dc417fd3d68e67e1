package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.regex.Pattern;

/// Makes plain JSON of a table's attribute values: `{"N":"7.50"}` becomes `7.50`, with its digits as they are, because
/// arithmetic here is exact. Bytes stay base64 text, and a set becomes an array.
final class AttributeValues {
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private AttributeValues() {}

    /// Copies the object of attributes that begins at the parser's place.
    static void copyItem(JsonParser from, JsonGenerator to) throws IOException {
        EventJson.expectObject(from);
        to.writeStartObject();
        while (from.nextToken() != JsonToken.END_OBJECT) {
            to.writeFieldName(from.currentName());
            from.nextToken();
            copyValue(from, to);
        }
        to.writeEndObject();
    }

    private static void copyValue(JsonParser from, JsonGenerator to) throws IOException {
        EventJson.expectObject(from);
        String type = from.nextFieldName();
        if (type == null) {
            throw EventJson.broken(from, "an attribute value has no type");
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
            default -> throw EventJson.broken(from, "there is no attribute type " + type);
        }
        if (from.nextToken() != JsonToken.END_OBJECT) {
            throw EventJson.broken(from, "an attribute value has two types");
        }
    }

    private static void copyList(JsonParser from, JsonGenerator to) throws IOException {
        EventJson.expectArray(from);
        to.writeStartArray();
        while (from.nextToken() != JsonToken.END_ARRAY) {
            copyValue(from, to);
        }
        to.writeEndArray();
    }

    private static void copySet(JsonParser from, JsonGenerator to, boolean numbers) throws IOException {
        EventJson.expectArray(from);
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
            throw EventJson.broken(from, "an attribute of type N is not a number");
        }
        return digits;
    }

    private static String text(JsonParser from) throws IOException {
        String text = EventJson.text(from);
        if (text == null) {
            throw EventJson.broken(from, "an attribute value is null");
        }
        return text;
    }
}
