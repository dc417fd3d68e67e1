package dev.onefold.oracle;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one JSON object. Jackson says what is JSON; numbers are kept as they are written, so that none of them is ever
/// anything but decimal, however large.
final class Json {
    private static final int NESTING_MAX = 64;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(NESTING_MAX)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private Json() {}

    static Document read(byte[] record) {
        try (JsonParser parser = FACTORY.createParser(utf8(record))) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new Refused("no JSON object");
            }
            Document document = object(parser);
            if (parser.nextToken() != null) {
                throw new Refused("something behind the JSON object");
            }
            return document;
        } catch (IOException broken) {
            throw new Refused("no JSON: " + broken.getMessage());
        }
    }

    static String utf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException broken) {
            throw new Refused("no UTF-8");
        }
    }

    private static Document object(JsonParser parser) throws IOException {
        Map<String, @Nullable Object> fields = new HashMap<>();
        Set<String> twice = new HashSet<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = unicode(parser.currentName());
            if (fields.containsKey(name)) {
                twice.add(name);
            }
            parser.nextToken();
            fields.put(name, value(parser));
        }
        return new Document(fields, twice);
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> unicode(parser.getText());
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Document.Literal(parser.getText());
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            default -> throw new Refused("no JSON value: " + parser.currentToken());
        };
    }

    private static List<@Nullable Object> array(JsonParser parser) throws IOException {
        List<@Nullable Object> values = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            values.add(value(parser));
        }
        return values;
    }

    /// What escapes say must be UTF-8 as well.
    private static String unicode(String text) {
        for (int index = 0; index < text.length(); index += Character.charCount(text.codePointAt(index))) {
            if (Character.getType(text.codePointAt(index)) == Character.SURROGATE) {
                throw new Refused("half of a surrogate pair");
            }
        }
        return text;
    }
}
